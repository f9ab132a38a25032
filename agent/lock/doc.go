// Package lock is the one lock of a data directory: whoever holds it may start servers. It is a room of package agent.
package lock
