// Package arrival says when the requests of an open loop are due: drawn from a seed with constant, Poisson or gamma gaps, at a rate that may
// grow, or as a trace recorded them.
package arrival
