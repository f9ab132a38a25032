// Package output writes the files that the user of the command line asks for.
package output
