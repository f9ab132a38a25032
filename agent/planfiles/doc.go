// Package planfiles finds the files that a plan names.
package planfiles
