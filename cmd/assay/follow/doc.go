// Package follow shows the events of a run as they come.
package follow
