package ceiling

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Report is all points, as --json prints it.
type Report struct {
	Schema   string     `json:"schema"`
	Program  string     `json:"program"`
	Go       string     `json:"go"`
	OS       string     `json:"os"`
	CPU      string     `json:"cpu"`
	Cores    int        `json:"cores"`
	Pinned   bool       `json:"pinned"` // the server had a core of its own
	WindowS  float64    `json:"window_s"`
	Points   []Measured `json:"points"`
	Sentence string     `json:"sentence"`
}

const schema = "assay.ceiling/v1"

func newReport(version string, pinned bool, window time.Duration) Report {
	return Report{
		Schema: schema, Program: version, Go: runtime.Version(), OS: kernel(), CPU: processor(), Cores: max(len(cores()), 1),
		Pinned: pinned, WindowS: window.Seconds(),
	}
}

func (r Report) anyHeld() bool {
	for _, m := range r.Points {
		if m.Held {
			return true
		}
	}
	return false
}

// best is the point of the highest rate that was held.
func (r Report) best() (best Measured, found bool) {
	for _, m := range r.Points {
		if m.Held && m.Rate > 0 && (!found || m.Got*float64(m.Streams) > best.Got*float64(best.Streams)) {
			best, found = m, true
		}
	}
	return best, found
}

// sentence is the ceiling in words.
func (r Report) sentence() string {
	var text string
	if best, found := r.best(); found {
		text = fmt.Sprintf("Held: %d streams at %.0f events/s, p99 stamp error %.0f µs, with %.2f cores.", best.Streams, best.Got, best.Stamp.P99, best.Cores)
	} else {
		text = "No point was held: trust no load of these sizes from this machine."
	}
	for _, m := range r.Points {
		if m.Rate == 0 {
			text += fmt.Sprintf(" Most taken in, %.0f events a read: %.0f events/s.", 1/max(1e-9, 1-m.Shared), m.Got)
		}
	}
	return text
}

// manyStreams is where memory is that of the streams, and not of the program.
const manyStreams = 500

// rows are the table, its head first. Errors are in microseconds.
func (r Report) rows() [][]string {
	withFloor := len(r.Points) > 0 && r.Points[0].Floor != nil
	head := []string{"streams", "asked/s", "got/s", "in flight", "stamp p50", "p99", "TTFT p50", "p99", "ITL p50", "p99", "shared", "CPU/event"}
	if withFloor {
		head = append(head, "floor", "ratio")
	}
	rows := [][]string{append(head, "cores", "KiB/stream", "lost", "verdict")}
	for _, m := range r.Points {
		asked := "most"
		if m.Rate > 0 {
			asked = fmt.Sprintf("%.0f", m.Rate)
		}
		row := []string{fmt.Sprint(m.Streams), asked, fmt.Sprintf("%.0f", m.Got), fmt.Sprintf("%.2f %%", 100*m.InFlight/float64(m.Streams))}
		for _, q := range []Quantiles{m.Stamp, m.TTFT, m.ITL} {
			row = append(row, fmt.Sprintf("%.1f", q.P50), fmt.Sprintf("%.1f", q.P99))
		}
		row = append(row, fmt.Sprintf("%.2f %%", 100*m.Shared), fmt.Sprintf("%.2f µs", m.CPUPerEvent))
		if withFloor {
			row = append(row, fmt.Sprintf("%.2f µs", m.Floor.CPUPerEvent), fmt.Sprintf("%.2f", m.Floor.Ratio))
		}
		memory := "–"
		if m.Streams >= manyStreams {
			memory = fmt.Sprintf("%.1f", m.RSSPerStream)
		}
		rows = append(rows, append(row, fmt.Sprintf("%.2f", m.Cores), memory, fmt.Sprint(m.Lost), verdict(m)))
	}
	return rows
}

// remarks are what stands below the table.
func (r Report) remarks() []string {
	lines := []string{"Errors in µs against the server's own instants. " + r.Sentence}
	lines = append(lines, r.pairs()...)
	for _, m := range r.Points {
		if len(m.Why)+len(m.Notes) > 0 {
			lines = append(lines, fmt.Sprintf("%s: %s.", m.Point, strings.Join(append(slices.Clone(m.Why), m.Notes...), "; ")))
		}
	}
	return lines
}

// pairs sums up points that were measured several times beside the least client.
func (r Report) pairs() []string {
	ratios := map[Point][]float64{}
	var order []Point
	for _, m := range r.Points {
		if m.Floor == nil {
			continue
		}
		if ratios[m.Point] == nil {
			order = append(order, m.Point)
		}
		ratios[m.Point] = append(ratios[m.Point], m.Floor.Ratio)
	}
	var lines []string
	for _, p := range order {
		all := ratios[p]
		slices.Sort(all)
		if n := len(all); n > 1 {
			lines = append(lines, fmt.Sprintf("%s: %.2f times the floor's processor time per event (median of %d pairs, %.2f to %.2f).", p, all[n/2], n, all[0], all[n-1]))
		}
	}
	return lines
}

// print writes the table for a terminal.
func (r Report) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range r.rows() {
		fmt.Fprintln(t, strings.Join(row, "\t")+"\t")
	}
	_ = t.Flush() // a terminal that takes nothing
	for _, line := range r.remarks() {
		fmt.Fprintln(w, line)
	}
}

// markdown writes the same for a document.
func (r Report) markdown(w io.Writer) {
	fmt.Fprintf(w, "%s, %d cores, %s, %s, assay %s.\n", r.CPU, r.Cores, r.OS, r.Go, r.Program)
	if r.Pinned {
		fmt.Fprint(w, "The server had a core of its own, the client the others.\n")
	}
	fmt.Fprintln(w)
	for i, row := range r.rows() {
		fmt.Fprintln(w, "| "+strings.Join(row, " | ")+" |")
		if i == 0 {
			fmt.Fprintln(w, strings.Repeat("|---:", len(row))+"|")
		}
	}
	fmt.Fprintln(w)
	for _, line := range r.remarks() {
		fmt.Fprintln(w, line+"\n")
	}
}

func verdict(m Measured) string {
	switch {
	case m.Held && m.Rate == 0:
		return "most"
	case m.Held:
		return "held"
	}
	return "not held"
}
