package agent

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"assay/probes"
)

// FuzzFilesOfARun: files that a crash or somebody else left are read as far as they go.
func FuzzFilesOfARun(f *testing.F) {
	f.Add([]byte(`{"t":1,"s":"a","v":1}` + "\n" + `{"t":2,"`))
	f.Add([]byte(`{"seq":1,"type":"phase"}` + "\n"))
	f.Add([]byte(`{"pid":1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		name := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(name, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		n := 0
		readSamples(name, func(probes.Sample) bool { n++; return true })
		if events := len(readEvents(name)); n > len(raw) || events > len(raw) {
			t.Errorf("%d samples and %d events from %d bytes", n, events, len(raw))
		}
		readHolder(name)
	})
}

// FuzzCron: a schedule that is taken has a next time, after now.
func FuzzCron(f *testing.F) {
	for _, s := range []string{"0 3 * * *", "@daily", "@every 6h", "@every 1ms", "0 0 30 2 *", "* * * * * *", "CRON_TZ=Mars/X 0 3 * * *", "TZ=UTC 1 1 1 1 1", "TZ=0", "CRON_TZ="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		s, err := ParseCron(spec)
		if err != nil {
			return
		}
		if now := time.Now(); !s.Next(now).After(now) {
			t.Errorf("%q: after %v comes %v", spec, now, s.Next(now))
		}
	})
}
