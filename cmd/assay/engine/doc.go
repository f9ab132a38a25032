// Package engine is the command `assay sim`: the flags of the simulated engine, and the server that they start. It is a room of cmd/assay.
package engine
