// Package klog reads the kernel's log since the boot for what it says against the hardware: errors of GPUs, machine checks, PCIe errors.
package klog
