// Package deal deals out to several servers on one machine what the machine has: GPUs, CPUs and memory nodes, as a plan writes them. It is
// pure: text in, one text for each server out.
package deal
