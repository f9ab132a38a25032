// Package delay counts how late things were that are too many to be kept one by one: reads of a client's connections, and wake-ups and pauses
// of the Go runtime. It is a room of package load.
package delay
