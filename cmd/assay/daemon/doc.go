// Package daemon talks to the daemon that holds a data directory, over its Unix socket.
package daemon
