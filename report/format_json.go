package report

import (
	"io"

	"assay/fault"
)

// jsonFormat is the result document, the bytes as stored.
func jsonFormat() Format {
	return Format{Name: "json", ContentType: "application/json", Write: writeJSON}
}

func writeJSON(w io.Writer, in Input) error {
	if len(in.Raw) == 0 {
		return fault.New(fault.Store, "no_document", "a run has its document once it ended; see `assay show RUN`", "run %s has no result document yet", in.Result.Run.ID)
	}
	_, err := w.Write(in.Raw)
	return err
}
