// Command assay turns a bare-metal accelerator server into a benchmark result that another person can check and repeat.
//
// This package holds what a program has and a library must not: flags, environment, signals, exit codes, and the wiring of the other
// packages. To add a command: one file with its constructor, and a line in commands() (app.go).
package main
