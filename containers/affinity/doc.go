// Package affinity places a program on CPUs and memory nodes of this machine. It is a room of package containers.
package affinity
