// Package gpu reads accelerators: AMD from the kernel, NVIDIA from nvidia-smi. Parsers are apart from readers and pure.
package gpu
