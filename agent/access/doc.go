// Package access reads what a plan only names of the way to its server: the token and the values of headers.
package access
