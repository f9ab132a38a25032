package report

import (
	"io"

	"assay/report/export"
)

// csvFormat has a row per point and a column per metric.
func csvFormat() Format {
	return Format{Name: "csv", ContentType: "text/csv; charset=utf-8", Write: func(w io.Writer, in Input) error {
		return export.CSV(w, in.Result)
	}}
}
