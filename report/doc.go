// Package report writes a result in the forms people and programs read: text, self-contained HTML with SVG plots, JSON, CSV, Markdown,
// events. A report is a function of its Input and never opens the database.
//
// A view (view.go) is a result with what several formats ask of it; rows.go is the run data table as rows with a cell per point, from
// which HTML and the terminal table are made. page.go is the HTML page as data, templates/ lays it out, style.css is the one stylesheet,
// shared with the web page. The packages below it: plot (charts to SVG coordinates), machine (the SUT in words), figure (numbers in
// words), point (what is read off one point), plain (tables in plain text), export (what other programs read). tables.go lists the tables of
// each protocol, which the formats of plain text write one after another.
//
// To add a format: one file format_<name>.go and a line in Formats(); the conformance and golden tests pick it up. A row of the run data
// table: a line in rows.go. A chart: a line in chart.go. A section of the page: a field of page and a template.
package report
