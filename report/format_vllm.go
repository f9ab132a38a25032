package report

import (
	"io"

	"assay/report/export"
)

// vllmFormat is the log block of vLLM's benchmark client, a block for each point.
func vllmFormat() Format {
	return Format{Name: "vllm", ContentType: "text/plain; charset=utf-8", Write: func(w io.Writer, in Input) error {
		return export.VLLM(w, in.Result, in.Recording)
	}}
}
