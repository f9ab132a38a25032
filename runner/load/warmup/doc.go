// Package warmup judges when a warm-up has brought a closed loop to an even pace. It is a room of package load.
package warmup
