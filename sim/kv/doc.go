// Package kv accounts for the blocks of an engine's KV cache: those that sequences hold, those that several share, and those that stay
// known for prompts that begin alike. It is a room of package sim and knows no time.
package kv
