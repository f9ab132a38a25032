// Package pci reads devices of the PCI bus: who they are, their names and their links.
package pci
