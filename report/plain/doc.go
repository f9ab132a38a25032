// Package plain writes tables in plain text: aligned for a terminal, or as Markdown.
package plain
