// Command client behaves as the benchmark client that its first argument names; tests put it into an image.
package main

import (
	"os"

	"assay/agent/foreign/foreigntest"
)

func main() { os.Exit(foreigntest.Main(os.Args[1:])) }
