// Package sim is a simulated inference engine with known ground truth: an OpenAI-compatible server whose latency follows a model and
// that records what it sent and when. Served by `assay sim`.
package sim
