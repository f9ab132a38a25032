// Package fault is the error a person reads: where it happened, a stable code for scripts, what failed and what to do.
//
// Every package wraps plain errors with what it was doing; where an error leaves the program (exit code, result
// document, API problem, page) the outermost *Fault in its chain says how it is shown.
package fault
