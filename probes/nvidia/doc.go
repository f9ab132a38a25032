// Package nvidia reads NVIDIA GPUs from nvidia-smi, and holds its list against the PCI bus. Parsers are apart from readers and pure.
package nvidia
