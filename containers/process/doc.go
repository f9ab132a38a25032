// Package process is the runtime that starts programs of this machine, each in a session of its own, and ends all that they started.
package process
