// Package docker is the runtime that starts containers, on Docker or on what answers as it does. A container is created from its spec and the
// terms agreed with the engine, filled, started, held against what was asked for, followed until it ends, and removed.
package docker
