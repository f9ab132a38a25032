// Package tool reads the files of benchmark clients, one file of code for each of them.
//
// A format is a pure function of the files: it hands over each request, on the tool's clock, and tells the rest in a Report. What a file
// does not tell stays unknown. To add a tool: one file format_<name>.go and one line in Formats; its rows in docs/clients.md.
package tool
