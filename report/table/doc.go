// Package table is a table as data, the same for every format: a head, rows of cells, and the sheets that fit on paper or in a terminal.
package table
