// Package load is the native load generator: arrivals, dispatcher, stream reader.
//
// Closed loop keeps exactly C streams in flight and refills at once; open loop follows an absolute schedule and never waits
// for a reply. Each stream is read by one goroutine over our own HTTP/1.1 reader; receive times come from the kernel
// (SO_TIMESTAMPNS) where the connection is plain TCP on Linux, else from user space, and the recording says which.
// Package load knows no plan: Config is plain data.
package load
