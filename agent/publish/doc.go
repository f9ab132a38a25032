// Package publish makes what people take away from an ended run: its report and its archive. It is a room of package agent.
package publish
