// Package flagerror says what is wrong with the value of a flag in words of the command line.
package flagerror
