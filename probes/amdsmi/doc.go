// Package amdsmi reads what amd-smi and rocm-smi print, as the second source of facts about AMD GPUs: it fills what the kernel does not
// tell and is compared with what it does. The tools are Python programs that hang, print warnings before their JSON and call the same
// thing by another name in each version, so nothing rests on them alone. Parsers are apart from readers and pure.
package amdsmi
