// Package leftover says what is to be started before it is, and finds and removes what a killed program left of it.
package leftover
