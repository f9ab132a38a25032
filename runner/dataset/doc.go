// Package dataset is where prompts come from: synthetic, ShareGPT, text folder, JSONL, agentic conversations.
//
// A Source yields conversations one by one; the load generator turns each into requests, turn after turn. The same seed
// gives the same conversations. Files are streamed, a bad line is counted and named, and data that ends begins again from its start with
// new conversation ids ("<id>__repeat_<k>"). Lengths are in words between white space: about one token each for the words used here; the
// server's usage says what they were.
//
// To add a kind: one file with its opener and a line in kinds() (kinds.go).
package dataset
