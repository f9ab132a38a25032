// Package bench turns the flags of `assay bench` into a plan. It is a room of cmd/assay: the command that owns the flags, and everything
// that is done with the plan, stand there.
package bench
