// Package metrics turns a recording into a summary. It is pure: the same recording and window give the same numbers for ever, so that
// anyone can recompute them. Table lists every metric with its id, unit and definition.
//
// A Collector takes requests one at a time and keeps counts, not events: OverWindow is the measuring window, OverInside the requests wholly
// inside it, OverCell the streams of a decode cell, OverIssue everything from issue to drain. Summarise, Inside, Cell and MLPerf are these of a
// recording in memory.
//
// To add a metric: a field of Summary, a line in Table, and its computation in the file of its population.
package metrics
