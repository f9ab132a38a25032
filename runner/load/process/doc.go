// Package process is what this process uses of its machine, and what that lets it have: processor time, memory, descriptors, ports.
package process
