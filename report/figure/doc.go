// Package figure writes numbers, sizes, times and names for people: thousands apart, as many digits as a measurement deserves, a unit
// that fits, and a dash where there is no value. Every format of a report writes them through it, so that they read the same everywhere.
package figure
