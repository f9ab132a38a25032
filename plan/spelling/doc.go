// Package spelling finds the word that was meant by one that is not known. It is a room of package plan.
package spelling
