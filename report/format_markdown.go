package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/report/launch"
	"assay/report/machine"
	"assay/report/plain"
)

// markdownFormat is for issues, wikis and pull requests.
func markdownFormat() Format {
	return Format{Name: "markdown", ContentType: "text/markdown; charset=utf-8", Write: writeMarkdown}
}

func writeMarkdown(w io.Writer, in Input) error {
	var b bytes.Buffer
	v := newView(in.Result)
	verdict, _ := v.verdict()
	fmt.Fprintf(&b, "# %s\n\n%s\n\n**%s**\n", plain.Quoted(v.title()), plain.Quoted(v.subtitle()), plain.Quoted(verdict))
	if k := v.kpis(); len(k) > 0 {
		fmt.Fprint(&b, "\n| figure | value |\n|---|--:|\n")
		for _, x := range k {
			fmt.Fprintf(&b, "| %s | %s %s |\n", plain.Quoted(x.Name), x.Value, plain.Quoted(x.Unit))
		}
	}
	markdownPoints(&b, v)
	markdownProblems(&b, v)
	markdownMachine(&b, v)
	_, err := w.Write(b.Bytes())
	return err
}

func markdownPoints(w io.Writer, v view) {
	if len(v.res.Points) == 0 {
		return
	}
	fmt.Fprint(w, "\n## Points\n\n")
	plain.Markdown(w, v.tableLines(), "---")
	if len(v.res.Points) > 1 && v.best >= 0 {
		fmt.Fprint(w, "\n\\* highest system throughput\n")
	}
	if lines := v.clientLines(); lines != nil {
		fmt.Fprint(w, "\n## Client\n\n")
		plain.Markdown(w, lines, "---")
	}
	for _, t := range v.tables() {
		fmt.Fprintf(w, "\n## %s\n\n%s\n\n", t.Name, plain.Quoted(t.Note))
		plain.Markdown(w, t.Grid.Lines(), "--:")
	}
}

func markdownProblems(w io.Writer, v view) {
	found, notes := v.findings(), slices.Concat(v.res.Identity.Notes, Notes(v.res))
	if v.res.Run.Error == nil && len(found) == 0 && len(v.res.SUT.Drift) == 0 && len(notes) == 0 {
		return
	}
	fmt.Fprint(w, "\n## Reasons\n\n")
	if f := v.res.Run.Error; f != nil {
		fmt.Fprintf(w, "- **%s** (%s) %s\n", plain.Quoted(f.Text), plain.Quoted(f.Code), plain.Quoted(f.Hint))
	}
	for _, r := range found {
		fmt.Fprintf(w, "- %s\n", plain.Quoted(r.sentence()))
	}
	for _, d := range v.res.SUT.Drift {
		fmt.Fprintf(w, "- machine changed: %s\n", plain.Quoted(d.Text+" ["+d.Code+"] "+d.Evidence))
	}
	for _, n := range notes {
		fmt.Fprintf(w, "- note: %s\n", plain.Quoted(n))
	}
}

func markdownMachine(w io.Writer, v view) {
	if v.sut != nil {
		fmt.Fprint(w, "\n## System under test\n\n| | |\n|---|---|\n")
		for _, c := range machine.Summarise(*v.sut) {
			for _, l := range c.Lines {
				fmt.Fprintf(w, "| %s | %s |\n", plain.Quoted(l.Label), plain.Quoted(l.Text()))
			}
		}
	}
	fmt.Fprint(w, "\n## Identity\n\n| | |\n|---|---|\n")
	for _, p := range v.identity() {
		fmt.Fprintf(w, "| %s | %s |\n", plain.Quoted(p.Name), plain.Quoted(strings.TrimSpace(p.Value+" "+parenthesised(p.Note))))
	}
	launch.Of(v.res).WriteMarkdown(w)
	fmt.Fprintf(w, "\nCheck it: `assay archive %s && assay verify %s`\n", v.res.Run.ID, v.archive())
}
