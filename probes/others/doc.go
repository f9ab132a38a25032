// Package others lists accelerators of vendors that have no group of probes of their own: what the bus and the kernel's driver tell of
// them, and for the rest that it is not known.
package others
