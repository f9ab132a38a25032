package agent

import (
	"os"
	"path/filepath"
	"testing"

	"assay/agent/events"
	"assay/agent/telemetry"
	"assay/probes"
)

// FuzzFilesOfARun: files that a crash or somebody else left are read as far as they go.
func FuzzFilesOfARun(f *testing.F) {
	f.Add([]byte(`{"t":1,"s":"a","v":1}` + "\n" + `{"t":2,"`))
	f.Add([]byte(`{"seq":1,"type":"phase"}` + "\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		name := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(name, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		n := 0
		telemetry.Read(name, func(probes.Sample) bool { n++; return true })
		if events := len(events.Read(name)); n > len(raw) || events > len(raw) {
			t.Errorf("%d samples and %d events from %d bytes", n, events, len(raw))
		}
	})
}
