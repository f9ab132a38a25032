// Package plot lays out charts and telemetry as plain data that a template writes as SVG: nice ticks from zero, points with names that
// never overlap, lines broken where nothing was measured, time series folded into columns that keep minimum, mean and maximum.
//
// A Chart becomes a Plot with Draw; samples become one Plot per quantity with Panels. Nothing here knows a result.
package plot
