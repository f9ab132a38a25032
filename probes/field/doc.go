// Package field holds the list of what tools are known to read wrongly of a machine, each with the test that holds it against ours, or
// with the reason why it cannot occur here. The tests stand beside what they test, in the rooms of probes, and their names carry the
// report's public id; docs/probe-faults.md is written from the list.
package field
