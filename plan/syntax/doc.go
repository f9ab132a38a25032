// Package syntax reads a plan's text into a tree of YAML nodes, and says what is wrong with a plan and where.
package syntax
