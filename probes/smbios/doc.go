// Package smbios reads the firmware's table of structures (DMTF DSP0134), as far as the probes need it.
package smbios
