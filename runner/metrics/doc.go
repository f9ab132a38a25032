// Package metrics turns a recording into a summary. Summarise is pure: the same recording and window give the same
// numbers for ever, so that anyone can recompute them. Table lists every metric with its id, unit and definition.
//
// To add a metric: a field of Summary, a line in Table, and its computation in the file of its population.
package metrics
