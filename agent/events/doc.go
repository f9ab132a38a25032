// Package events hands what happens to who follows it, and keeps it in the folder of each run. It is a room of package agent.
package events
