// Package machine reads board and firmware, processors and memory. ProbeX reads, parseX is pure.
package machine
