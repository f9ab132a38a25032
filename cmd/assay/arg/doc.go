// Package arg says which arguments and flags a command takes, and what is wrong with others.
package arg
