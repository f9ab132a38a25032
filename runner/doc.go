// Package runner holds the benchmark clients behind one seam: Client runs a Job against a base URL, writes the recording and
// says how it fared itself. Verdict judges a point from its summary, its shape and the client's health.
//
// To add a client: one file client_<name>.go and a line in Clients() (clients.go). runner knows no Docker; a client that needs a
// container gets a function to start one.
package runner
