package export

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"assay/fault"
	"assay/report/figure"
	"assay/report/point"
	"assay/result"
	"assay/runner/metrics"
)

// blockWidth is the width of the log's rules; labels take labelWidth of it and values valueWidth.
const (
	blockWidth = 50
	labelWidth = 40
	valueWidth = 10
)

// VLLM writes the log block of vLLM's benchmark client, a block for each measured point, as its fork that cuts warm-up and cool-down prints
// it. Lines that begin with # stand around the blocks: what is not in them, and which requests each figure is of.
func VLLM(w io.Writer, r result.Result, recordings Recordings) error {
	if err := anyMeasured(r); err != nil {
		return err
	}
	var b bytes.Buffer
	if point.PlanOf(r).Unpinned {
		fmt.Fprintln(&b, "# the plan allows images and data that are not pinned: this result cannot be repeated exactly")
	}
	for _, p := range r.Points {
		if p.Recording == nil {
			fmt.Fprintf(&b, "# %s: %s, not measured%s\n", p.ID, point.StateText(string(p.State)), why(p))
			continue
		}
		s, err := servingOf(r, p, recordings)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "# %s: %s, %s%s\n", p.ID, point.Label(p), point.StateText(string(p.State)), why(p))
		s.block(&b, r, p)
		s.populations(&b)
	}
	_, err := io.WriteString(w, fault.PrintableLines(b.String()))
	return err
}

// anyMeasured refuses a run of which there is no point to write: the file of a client that measured nothing would be taken for a result.
func anyMeasured(r result.Result) error {
	if slices.ContainsFunc(r.Points, func(p result.Point) bool { return p.Recording != nil }) {
		return nil
	}
	return fault.New(fault.Store, "nothing_measured", "`assay show "+r.Run.ID+"` tells how it ended", "run %s measured no point whose requests are recorded", r.Run.ID)
}

// why gives the reasons of a point in brackets.
func why(p result.Point) string {
	if len(p.Reasons) == 0 {
		return ""
	}
	return " (" + strings.Join(point.ReasonCodes(p), ", ") + ")"
}

func (s serving) block(w io.Writer, r result.Result, p result.Point) {
	line := func(label, format string, value any) {
		fmt.Fprintf(w, "%-*s %-*s\n", labelWidth, label, valueWidth, fmt.Sprintf(format, value))
	}
	rule(w, "Serving Benchmark Result", "=")
	line("Number of worker processes:", "%d", 1)
	line("Successful requests:", "%d", s.inside.RequestsCompleted)
	if s.concurrency > 0 {
		line("Maximum request concurrency:", "%d", s.concurrency)
	}
	if p.Rate != nil {
		line("Request rate configured (RPS):", "%.2f", *p.Rate)
	}
	if cut := point.PlanOf(r).Protocol.Serve; cut != nil {
		line("Warm-up Time:", "%s", tenth(cut.Window.Warmup.Std().Seconds()))
		line("Cool-down Time:", "%s", tenth(cut.Window.Cooldown.Std().Seconds()))
	}
	line("Benchmark duration (s):", "%.2f", s.window.DurationS)
	if s.inside.InputTokens != nil {
		line("Total input tokens:", "%d", *s.inside.InputTokens)
	}
	line("Total generated tokens:", "%d", s.tokens)
	if d := s.window.DurationS; d > 0 {
		line("Output token throughput (tok/s):", "%.2f", float64(s.tokens)/d)
		if s.inside.InputTokens != nil {
			line("Total Token throughput (tok/s):", "%.2f", float64(*s.inside.InputTokens+s.tokens)/d)
		}
	}
	latencies(w, "Time to First Token", "TTFT", s.inside.TTFTMS)
	latencies(w, "Inter-token Latency", "ITL", s.window.ITLMS)
	fmt.Fprintln(w, strings.Repeat("=", blockWidth))
}

// tenth writes seconds as that log does: 120.0, or all the digits they have.
func tenth(seconds float64) string {
	s := strconv.FormatFloat(seconds, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// rule centres a heading in a line of fill.
func rule(w io.Writer, heading, fill string) {
	pad := blockWidth - len(heading)
	fmt.Fprintln(w, strings.Repeat(fill, pad/2)+heading+strings.Repeat(fill, pad-pad/2))
}

// latencies writes a distribution; nothing but its heading for one without samples.
func latencies(w io.Writer, heading, name string, d *metrics.Distribution) {
	rule(w, heading, "-")
	if d == nil {
		return
	}
	for _, q := range []struct {
		label string
		ms    float64
	}{{"Mean", d.Mean}, {"Median", d.P50}, {"P1", d.P1}, {"P10", d.P10}, {"P25", d.P25}, {"P50", d.P50}, {"P75", d.P75}, {"P90", d.P90}} {
		fmt.Fprintf(w, "%-*s %-*s\n", labelWidth, q.label+" "+name+" (ms):", valueWidth, fmt.Sprintf("%.2f", q.ms))
	}
}

// populations says which requests the block's figures are of, and gives those of the whole window.
func (s serving) populations(w io.Writer) {
	fmt.Fprintln(w, "# Successful requests, total input tokens and TTFT: of the requests sent and finished inside the window.")
	fmt.Fprintln(w, "# Total generated tokens, output token throughput and ITL: of the token events inside the window, whichever request they belong to.")
	fmt.Fprintln(w, "# Total Token throughput adds the two populations, so that its input part is low by what is not wholly inside.")
	of := s.window
	fmt.Fprintf(w, "# The whole window: %s finished in it", figure.Plural(of.RequestsCompleted, "request"))
	if of.InputTokens != nil && of.TotalTPS != nil {
		fmt.Fprintf(w, " with %d input tokens, %.2f tok/s in and out", *of.InputTokens, *of.TotalTPS)
	}
	if d := of.TTFTMS; d != nil {
		fmt.Fprintf(w, "; TTFT of the %d sent in it: mean %.2f ms, median %.2f ms, P90 %.2f ms", d.N, d.Mean, d.P50, d.P90)
	}
	fmt.Fprintf(w, ".\n# Peak: %.2f tok/s in one second of the window, %s in flight at once.\n\n", s.peakTPS, figure.Plural(s.peakFlight, "request"))
}
