// Package fit refuses, before anything is started, what cannot give a result: a machine that is not fit, files that are missing, a client
// without room. It says too what a reader of a result must know of its plan.
package fit
