// Package secrets reads the values that a plan names and never holds: tokens, headers, variables of servers and clients. It is a room of
// package agent.
package secrets
