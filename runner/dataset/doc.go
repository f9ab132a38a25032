// Package dataset is where prompts come from: synthetic, ShareGPT, text folder, JSONL, traces, agentic conversations.
//
// A Source yields conversations one by one; the load generator turns each into requests, turn after turn. The same seed
// gives the same conversations. Files are streamed, a bad line is counted and named.
//
// To add a kind: one file with its opener and a line in kinds() (dataset.go).
package dataset
