// Package gpu finds the accelerators of this machine, chooses those that a plan means, and says what a container or process needs to see them
// and no others. It is a room of package containers.
//
// A device is what sits on the PCI bus. Its index is its place in the order of PCI addresses, as in the SUT document; how a driver counts is
// used nowhere, since that depends on what else the driver sees.
package gpu
