// Package archive packs a run as one deterministic, signed file, and verifies one: hashes, signature, and every number recomputed
// from the recordings.
package archive
