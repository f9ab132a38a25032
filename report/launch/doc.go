// Package launch says what a run started and how: each server, router and client by what pins it, what was asked of the runtime and what that made
// of it, the command that starts the same again, how requests found their way to the servers, and how everything ended.
package launch
