// Package files reads what a person gave to import: one file or those of a folder, with bounds on all that is read, as Python's programs write
// JSON, and with errors that say what to do.
package files
