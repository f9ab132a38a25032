// Package report writes a result in the forms people and programs read: text, self-contained HTML with SVG plots, JSON, CSV, Markdown,
// events. A report is a function of its Input and never opens the database.
//
// To add a format: one file format_<name>.go and a line in Formats(); a golden test picks it up.
package report
