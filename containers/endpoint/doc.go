// Package endpoint is the runtime of servers that somebody else runs: they are measured, never started or stopped.
package endpoint
