// Package foreign starts the clients that are other programs, as runner asks for it, and holds what they measured against what the server
// saw: a client that held less load than it was asked for, or kept a failure to itself, is told from the engine's own words. It is a
// room of package agent.
package foreign
