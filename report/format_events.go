package report

import (
	"io"

	"assay/report/export"
)

// eventsFormat is JSON lines, one per measured request with all its token events.
func eventsFormat() Format {
	return Format{Name: "events", ContentType: "application/x-ndjson", Write: func(w io.Writer, in Input) error {
		return export.Events(w, in.Result, in.Recording)
	}}
}
