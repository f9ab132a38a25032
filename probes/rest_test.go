package probes

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// TestReadAtRest: a load that fades is none, one that stays is told after ten seconds, and a GPU at rest is looked at once.
func TestReadAtRest(t *testing.T) {
	for name, tt := range map[string]struct {
		load []string // of each look
		want float64
		took time.Duration
	}{
		"at rest":    {[]string{"0"}, 0, 0},
		"fades":      {[]string{"100", "3"}, 3, 5 * time.Second},
		"stays busy": {[]string{"100", "90", "80"}, 80, 10 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS("testdata/hosts/sysfs-rx6900xt")); err != nil {
				t.Fatal(err)
			}
			h := openCapture(t, dir)
			h.Live = true
			busy, err := filepath.Glob(filepath.Join(dir, "sys/class/drm/card*/device/gpu_busy_percent"))
			if err != nil || len(busy) != 1 {
				t.Fatalf("%v %v", busy, err)
			}
			write(t, busy[0], tt.load[0])
			go func() {
				for _, load := range tt.load[1:] {
					<-time.After(restPause - time.Second)
					write(t, busy[0], load)
					<-time.After(time.Second)
				}
			}()
			start := time.Now()
			s := ReadAtRest(t.Context(), h, Program{})
			if took := time.Since(start); s.Accelerators.Items[0].UtilPct.Value != tt.want || took != tt.took {
				t.Errorf("%s: %+v after %s", name, s.Accelerators.Items[0].UtilPct, took)
			}
		})
	}
}
