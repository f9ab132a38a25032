package report

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"

	"assay/report/figure"
	"assay/report/point"
)

//go:embed templates/*.html
var templates embed.FS

// htmlFormat is one self-contained page: no script, no network, light and dark, phone and print.
func htmlFormat() Format {
	return Format{Name: "html", ContentType: "text/html; charset=utf-8", Write: writeHTML}
}

// writeHTML writes the whole page or nothing: a template error must not leave half a report behind.
func writeHTML(w io.Writer, in Input) error {
	t, err := template.New("page.html").Funcs(template.FuncMap{"size": figure.Size, "instant": figure.Instant, "words": point.StateText}).ParseFS(templates, "templates/*.html")
	if err != nil {
		return fmt.Errorf("read the report's templates: %w", err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, newPage(in)); err != nil {
		return fmt.Errorf("write the html report: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}
