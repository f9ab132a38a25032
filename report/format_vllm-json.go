package report

import (
	"io"

	"assay/report/export"
)

// vllmJSONFormat is the result file of vLLM's benchmark client, a line for each point.
func vllmJSONFormat() Format {
	return Format{Name: "vllm-json", ContentType: "application/x-ndjson", Write: func(w io.Writer, in Input) error {
		return export.VLLMJSON(w, in.Result, in.Recording)
	}}
}
