// Package engines asks the container engine and its tools for their versions. Parsers are apart from readers and pure.
package engines
