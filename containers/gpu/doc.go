// Package gpu finds what a container needs to see the accelerators of this machine. It is a room of package containers.
package gpu
