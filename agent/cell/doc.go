// Package cell judges the points of a matrix: whether a cell fits the engine, and what its figures are worth.
package cell
