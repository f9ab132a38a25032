// Package allow says what a plan that came over the network may have of this machine, by the list that its owner wrote. It is a room of
// package agent.
package allow
