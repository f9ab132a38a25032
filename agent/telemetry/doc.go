// Package telemetry is the room of the agent that samples the machine and the engine beside the load: a loop for each source, so that one
// that hangs delays no other; a file of all samples; and the summary of a point's window, with energy by counter or by the power sampled.
package telemetry
