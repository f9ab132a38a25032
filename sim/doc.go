// Package sim is a simulated inference engine with known ground truth: an OpenAI-compatible server whose latency follows a model and
// that records what it sent and when. Served by `assay sim`.
//
// The engine works in steps, as real ones do: a step takes a base time, a share for each running request and the prefill of
// new prompts, and gives every running request one token. Requests beyond MaxRunning or the KV budget wait. A prompt that begins
// like an earlier one reuses its blocks. Text, lengths and timing follow from Config.Seed and the request alone. A token is
// a word between white space, in prompts, replies and usage alike.
//
// What can go wrong is a list (Faults). A fault is chosen for requests by their number (Config.Faults) or by the model they ask for:
// "sim+crlf+cut@3" is the model "sim" with two faults, so that one server has every scenario. To add one: a line in the list, and its
// case where it acts: strike.go (ends and pauses), event.go (what a stream says), styleOf (how it is written).
package sim
