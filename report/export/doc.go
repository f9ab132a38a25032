// Package export writes a result in the forms that other programs read: tables, events, and the files of other benchmark clients with
// their names and formulas. What needs single requests reads the run's recordings, one request at a time.
package export
