// Package ceiling measures the client itself: `assay bench-client`. A server that streams on a fixed schedule and knows when it sent
// what (sim/paced) runs in a process of its own on a core of its own; the native client drives load against it in another process, on
// the code path of a run; and what the client recorded is compared with what the server knows, event by event.
package ceiling
