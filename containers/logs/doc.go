// Package logs keeps the output of what was started: a file for each start, which stays below a size, and goes on where it ended after this
// program was killed or a container engine restarted.
package logs
