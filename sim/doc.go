// Package sim is a simulated inference engine with known ground truth: an OpenAI-compatible server whose latency follows a model and
// that records what it sent and when. Served by `assay sim`.
//
// The engine works in steps, as real ones do: a step takes a base time, a share for each running request and the prefill of
// new prompts, and gives every running request one token. Requests beyond MaxRunning or the KV budget wait. A prompt that begins
// like an earlier one reuses its blocks. Text, lengths and timing follow from Config.Seed and the request alone. A token is
// a word between white space, in prompts, replies and usage alike.
//
// To add a fault: a kind in fault.go and its case in stream.go.
package sim
