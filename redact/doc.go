// Package redact takes secrets whose values are known out of what a run writes: texts, JSON documents, streams and files. What looks like a
// secret without being known is found by its form (Find).
package redact
