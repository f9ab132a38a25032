// Package journal keeps what is to be started in the store before it is, removes what a killed program left, and refuses to start something
// beside what could not be removed.
package journal
