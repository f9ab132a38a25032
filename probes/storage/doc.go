// Package storage reads the drives, what is mounted on them, and the layers between. Parsers are apart from readers and pure.
package storage
