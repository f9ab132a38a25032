package standing

import (
	"fmt"
	"io"
	"time"

	"assay/fault"
	"assay/result"
)

// Text writes what is known of the machine: its state, what is against it and what to do, and with devices its accelerators.
func Text(w io.Writer, n result.Node, devices bool) {
	fmt.Fprintf(w, "node %s", n.State)
	if n.SeenUS > 0 {
		fmt.Fprintf(w, ", looked at %s", clock(n.SeenUS))
	}
	fmt.Fprintln(w)
	for _, m := range n.Marks {
		fmt.Fprintf(w, "  %s since %s: %s\n", m.State, clock(m.SinceUS), fault.Printable(m.Text))
		line(w, "left or found by run", m.Run)
		line(w, "seen", m.Evidence)
		line(w, "do", m.Hint)
	}
	if !devices {
		return
	}
	for _, d := range n.Devices {
		fmt.Fprintf(w, "  %s  %s, answered %s\n", fault.Printable(d.Address), fault.Printable(d.Name), clock(d.SeenUS))
	}
}

func line(w io.Writer, what, text string) {
	if text != "" {
		fmt.Fprintf(w, "    %s: %s\n", what, fault.Printable(text))
	}
}

func clock(us int64) string { return time.UnixMicro(us).UTC().Format("2006-01-02 15:04:05") + " UTC" }
