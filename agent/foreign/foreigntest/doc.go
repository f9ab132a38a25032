// Package foreigntest behaves as the benchmark clients that a plan can name do: it takes the flags that the real ones take and no others
// (flags/, recorded from their help), makes real requests, and writes what they write. Modes have it misbehave as clients are known to.
package foreigntest
