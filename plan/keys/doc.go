// Package keys reads the keys of a plan from the types that hold it: their names, the rules of their tags and their comments. It is a room of package plan.
package keys
