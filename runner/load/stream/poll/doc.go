// Package poll tells which of many descriptors are ready, to one goroutine that sleeps in the runtime's own poller meanwhile.
package poll
