// Package mark says whose a process is, so that what a killed program left can be found and ended, and nothing else.
package mark
