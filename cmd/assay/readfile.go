package main

import (
	"io"
	"os"
)

// planLimit is one byte more than plan.Parse accepts, so that a larger file is refused there with its own words.
const planLimit = 1<<20 + 1

// readLimited reads a file, or standard input for "-", up to planLimit.
func readLimited(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(os.Stdin, planLimit))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, planLimit))
}
