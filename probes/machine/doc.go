// Package machine reads everything of a host but its accelerators: firmware, processors, memory, storage, network, operating system,
// container engine. ProbeX reads, parseX is pure.
package machine
