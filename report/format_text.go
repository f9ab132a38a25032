package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/fault"
	"assay/report/launch"
	"assay/report/machine"
	"assay/report/plain"
)

// textFormat is the report for a terminal or a mail.
func textFormat() Format {
	return Format{Name: "text", ContentType: "text/plain; charset=utf-8", Write: writeText}
}

func writeText(w io.Writer, in Input) error {
	var b bytes.Buffer
	v := newView(in.Result)
	writeHead(&b, v)
	b.WriteString("\n")
	Table(&b, in.Result)
	writeProblems(&b, v)
	for _, t := range v.tables() {
		t.Write(&b)
	}
	writeChapters(&b, in, v)
	_, err := io.WriteString(w, fault.PrintableLines(b.String()))
	return err
}

func writeHead(w io.Writer, v view) {
	verdict, _ := v.verdict()
	fmt.Fprintf(w, "%s\n%s\n\n%s\n", v.title(), v.subtitle(), verdict)
	for _, k := range v.kpis() {
		fmt.Fprintf(w, "  %12s %-6s %s\n", k.Value, k.Unit, k.Name)
	}
}

// writeProblems lists the error and every reason; nothing for a clean run.
func writeProblems(w io.Writer, v view) {
	if f := v.res.Run.Error; f != nil {
		fmt.Fprintf(w, "\nERROR\n  %s (%s)\n", f.Text, f.Code)
		if f.Hint != "" {
			fmt.Fprintf(w, "  %s\n", f.Hint)
		}
	}
	found := v.findings()
	notes := slices.Concat(v.res.Identity.Notes, Notes(v.res))
	if len(found)+len(v.res.SUT.Drift)+len(notes) > 0 {
		fmt.Fprintln(w, "\nREASONS")
	}
	for _, r := range found {
		fmt.Fprint(w, machine.Fold("  "+r.sentence(), "    "))
	}
	for _, d := range v.res.SUT.Drift {
		fmt.Fprint(w, machine.Fold("  machine changed: "+d.Text+" ["+d.Code+"] "+d.Evidence, "    "))
	}
	for _, n := range notes {
		fmt.Fprint(w, machine.Fold("  note: "+n, "    "))
	}
}

// sentence is a reason with its point, code and evidence.
func (f finding) sentence() string {
	s := f.Text + " [" + f.Code + "]"
	if f.Where != "" {
		s = f.Where + ": " + s
	}
	return strings.TrimSpace(s + " " + f.Evidence)
}

func writeChapters(w io.Writer, in Input, v view) {
	if len(in.Result.Checks) > 0 {
		fmt.Fprintln(w, "\nCHECKS")
		machine.WriteChecks(w, in.Result.Checks)
	}
	if lines := v.clientLines(); lines != nil {
		fmt.Fprintln(w, "\nCLIENT")
		plain.Columns(w, lines, true)
	}
	fmt.Fprintln(w, "\nIDENTITY")
	for _, p := range v.identity() {
		machine.WriteField(w, p.Name, strings.TrimSpace(p.Value+" "+parenthesised(p.Note)))
	}
	launch.Of(v.res).WriteText(w)
	if v.sut != nil {
		fmt.Fprint(w, "\nSYSTEM UNDER TEST\n")
		machine.WriteText(w, *v.sut)
	}
	fmt.Fprintf(w, "\nCHECK IT\n  assay archive %s && assay verify %s\n", in.Result.Run.ID, v.archive())
}

func parenthesised(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}
