package ceiling

import (
	"fmt"
	"io"
	"runtime"
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

// print writes the table and the sentence.
func (r Report) print(w io.Writer) {
	withFloor := len(r.Points) > 0 && r.Points[0].Floor != nil
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	head := "streams\tasked/s\tgot/s\tin flight\tstamp p50\tp99\tTTFT p50\tp99\tITL p50\tp99\tshared\tCPU/event\t"
	if withFloor {
		head += "floor\tratio\t"
	}
	fmt.Fprintln(t, head+"cores\tKiB/stream\tlost\tverdict\t")
	for _, m := range r.Points {
		asked := "most"
		if m.Rate > 0 {
			asked = fmt.Sprintf("%.0f", m.Rate)
		}
		fmt.Fprintf(t, "%d\t%s\t%.0f\t%.2f %%\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.2f %%\t%.2f µs\t", m.Streams, asked, m.Got, 100*m.InFlight/float64(m.Streams),
			m.Stamp.P50, m.Stamp.P99, m.TTFT.P50, m.TTFT.P99, m.ITL.P50, m.ITL.P99, 100*m.Shared, m.CPUPerEvent)
		if withFloor {
			fmt.Fprintf(t, "%.2f µs\t%.2f\t", m.Floor.CPUPerEvent, m.Floor.Ratio)
		}
		fmt.Fprintf(t, "%.2f\t%.1f\t%d\t%s\t\n", m.Cores, m.RSSPerStream, m.Lost, verdict(m))
	}
	t.Flush()
	fmt.Fprintln(w, "Errors in µs against the server's own instants. "+r.Sentence)
	for _, m := range r.Points {
		if len(m.Why)+len(m.Notes) > 0 {
			fmt.Fprintf(w, "%s: %s\n", m.Point, strings.Join(append(m.Why, m.Notes...), "; "))
		}
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
