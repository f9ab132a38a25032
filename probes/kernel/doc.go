// Package kernel reads the operating system: its kernel's state and settings, and the limits this process has. parseX is pure.
package kernel
