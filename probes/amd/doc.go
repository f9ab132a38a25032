// Package amd reads AMD GPUs from the kernel: the graphics driver's files, the compute driver's topology and the table of sensors and
// counters. No tool is started, and nothing is read that would wake a device that sleeps. Parsers are apart from readers and pure.
package amd
