// Package archive packs a run as one deterministic, signed file, and verifies one: hashes, signature, and every number recomputed
// from the recordings.
//
// An archive (assay.archive/v1) is a zstd-compressed tar. Its entries stand in a folder named by the run's id, in this order:
//
//	manifest.json    schema, run, and every file below with its SHA-256 and size
//	signature.json   an Ed25519 signature over the bytes of manifest.json, with the public key
//	result.json      the result document
//	…                the artifacts that result.json lists, in the order of their paths
//
// Owner, group, times and modes are constant, so the same run and key give the same bytes. Verify reads front to back in one
// pass, writes nothing to disk and trusts nothing: sizes, counts and paths are bounded before they are used.
//
// The signature shows who packed the run; whoever relies on an archive compares the key's fingerprint with the one they know.
package archive
