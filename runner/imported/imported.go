package imported

import (
	"assay/runner/imported/files"
	"assay/runner/imported/tool"
)

type (
	// Format is how one tool writes its results.
	Format = tool.Format
	// Source is the files to import.
	Source = files.Source
	// Report is what a tool's files tell beside single requests.
	Report = tool.Report
	// Point is one measurement of a tool.
	Point = tool.Point
	// Unknown says what the tool's requests do not tell.
	Unknown = tool.Unknown
	// Figure is a number as a tool printed it.
	Figure = tool.Figure
)

// Formats lists every tool whose results can be read.
func Formats() []Format { return tool.Formats() }

// Open lists the files of a path.
func Open(path string) (Source, error) { return files.Open(path) }

// Find says which tool wrote the source, by what its files hold, or takes the named format. Files that no tool wrote are left out.
func Find(src Source, as string) (Format, Source, error) { return tool.Find(src, as) }
