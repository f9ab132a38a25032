// Package wire writes server-sent events the way servers are seen to write them: every line end the standard allows, comments, ids,
// data over several lines, and bytes that reach the kernel in pieces of any size. It is a room of package sim and knows no engine.
package wire
