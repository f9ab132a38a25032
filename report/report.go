package report

import (
	"io"

	"assay/probes"
	"assay/report/export"
	"assay/report/launch"
	"assay/result"
)

// Input is all a report may use.
type Input struct {
	Result    result.Result
	Raw       []byte                               // the document's bytes as stored
	Telemetry func(yield func(probes.Sample) bool) // the run's samples in order; nil when there are none
	Recording export.Recordings                    // reads a recording of the run, one request at a time; nil when they are not at hand
	Unpacked  bool                                 // no archive is packed of the run
}

// Format is one way to write a report.
type Format struct {
	Name        string
	ContentType string
	Matrix      bool // it tells of a matrix and of nothing else
	Write       func(w io.Writer, in Input) error
}

// Commands are the command lines that start the servers, routers and client of a run again, for a shell; "" when the run started none.
func Commands(r result.Result) string { return launch.Of(r).Script() }
