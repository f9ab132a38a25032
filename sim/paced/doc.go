// Package paced is a server that streams on a fixed schedule and knows when: the other side of a measurement of the client itself.
//
// It speaks as much HTTP/1.1 and OpenAI as that takes, from one thread over raw sockets, so that it costs little beside the kernel's
// work: one write for each event, as common servers do. Each event's text is the instant just before its write, and a log keeps the
// same of every request (Truth). All instants are nanoseconds of CLOCK_MONOTONIC, which all processes of a machine share.
package paced
