package containers

import (
	"fmt"
	"os"
	"strings"

	"assay/containers/engine"
	"assay/fault"
)

// ExitFault says why an instance ended though nobody asked it to, as far as its log tells.
func ExitFault(inst Instance, e Exit) *fault.Fault {
	layer := layerOf(inst.Identity().Role)
	if e.Reason == "" { // somebody else took the value of Exited
		e.Reason = "has ended"
	}
	if e.OOM {
		return fault.New(layer, "exited", "it needs more memory than the machine or its limit gives", "the %s was killed for want of memory (%s)", layer, e.Reason)
	}
	f, err := os.Open(inst.LogPath())
	if err != nil {
		return fault.New(layer, "exited", "its log is lost", "the %s %s", layer, e.Reason)
	}
	defer f.Close()
	if s, line, ok := engine.Classify(f); ok {
		return fault.New(layer, "exited", s.Hint, "the %s %s: %s [%s]", layer, e.Reason, line, s.Code)
	}
	return fault.New(layer, "exited", "look at its log: "+inst.LogPath(), "the %s %s: %s", layer, e.Reason, lastLine(f))
}

// lastLine is the end of a log that no signature knows.
func lastLine(f *os.File) string {
	tail := make([]byte, 4096)
	st, err := f.Stat()
	if err != nil {
		return "its log cannot be read"
	}
	n, _ := f.ReadAt(tail, max(0, st.Size()-int64(len(tail))))
	lines := strings.Split(strings.TrimSpace(string(tail[:n])), "\n")
	if last := engine.FirstLine(lines[len(lines)-1]); last != "" {
		return fmt.Sprintf("its last line was %q", last)
	}
	return "it wrote nothing"
}
