// Package usage samples what a host uses now: its processors' time and energy, memory, drives and network interfaces, and what its meters show.
package usage
