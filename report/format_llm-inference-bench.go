package report

import (
	"io"

	"assay/report/export"
)

// inferenceBenchFormat is the result file of llm-inference-bench, of a matrix.
func inferenceBenchFormat() Format {
	return Format{Name: "llm-inference-bench", ContentType: "application/json", Matrix: true, Write: func(w io.Writer, in Input) error {
		return export.InferenceBench(w, in.Result, in.Recording)
	}}
}
