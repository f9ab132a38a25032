// Package limits says what a container engine can give to a container, and holds what a plan asks for against it before anything is created: what
// the engine would refuse at the start, or grant in name only. It is a room of package containers.
package limits
