// Package stream sends one request and reads its streamed answer: connections with the kernel's receive times, HTTP/1.1,
// server-sent events, chunks, tokens, outcomes. It is the inner room of package load and knows no pacing.
//
// Bytes go one way: conn (read with a stamp; a plain one, a wire, by one goroutine for all) → response (HTTP/1.1 framing) → sse (events) → chunk (one JSON text) → marks
// (token events) → record.Request. Nothing on that way allocates or locks once its buffers have grown.
package stream
