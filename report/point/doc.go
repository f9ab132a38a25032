// Package point is what the sections and formats of a report read off one point: its name for people, its populations, its throughput and
// energy.
package point
