// Package port finds free ports of this machine, and says who listens on one.
package port
