// Package engine is what assay knows of inference servers, apart from how they are started: where they answer, how they spell their
// arguments and metrics, what they say of themselves, and how their logs tell why they failed.
//
// To add a kind of server: one file preset_<name>.go and a line in Presets(). To add a way to fail: a line in Signatures().
package engine
