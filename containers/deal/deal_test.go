package deal

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/fault"
)

func TestGPUs(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		have int
		want string // sets parted by " | ", or the code of a fault
	}{
		{"0-7", 4, 0, "0,1 | 2,3 | 4,5 | 6,7"},
		{"0,1,2,3", 2, 0, "0,1 | 2,3"},
		{"3,1, 2,0", 2, 0, "3,1 | 2,0"},
		{"0-1,4-5", 2, 0, "0,1 | 4,5"},
		{"0;2,3", 2, 0, "0 | 2,3"},
		{"0 ; 0", 2, 0, "0 | 0"},
		{"all;none", 2, 8, "all | none"},
		{"all", 4, 8, "0,1 | 2,3 | 4,5 | 6,7"},
		{"all", 3, 0, "all | all | all"},
		{"all", 1, 8, "all"},
		{"none", 2, 8, "none | none"},
		{"", 2, 8, " | "},
		{"", 1, 8, ""},
		{"count:4", 2, 8, "0,1 | 2,3"},
		{"count:4", 1, 8, "count:4"},
		{"0000:03:00.0,0000:83:00.0", 2, 0, "0000:03:00.0 | 0000:83:00.0"},
		{"GPU-1a-2b,GPU-3c-4d", 2, 0, "GPU-1a-2b | GPU-3c-4d"},
		{"0-7", 3, 0, "plan.replicas_uneven"},
		{"all", 3, 8, "plan.replicas_uneven"},
		{"0", 2, 0, "plan.replicas_uneven"},
		{"all", 2, Unknown, "plan.gpus_unknown"},
		{"all", 1, Unknown, "all"},
		{"0-3", 2, Unknown, "0,1 | 2,3"},
		{"count:0", 2, 0, "plan.set_invalid"},
		{"3-1", 2, 0, "plan.set_invalid"},
		{"0-4000000000", 2, 0, "plan.set_invalid"},
	} {
		sets, err := GPUs(c.text, c.n, c.have)
		told(t, c.text, c.n, sets, err, c.want)
	}
}

func TestCPUs(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"0-7", 2, "0-3 | 4-7"},
		{"0-31,64-95", 2, "0-15,64-79 | 16-31,80-95"},
		{"64-95,0-31", 2, "0-15,64-79 | 16-31,80-95"},
		{"0-2,8", 2, "0-1 | 2,8"},
		{"0,2,4,6", 2, "0,2 | 4,6"},
		{"0-3;4-7", 2, "0-3 | 4-7"},
		{"0-3", 1, "0-3"},
		{"", 3, " |  | "},
		{"0,1,1,0", 2, "0 | 1"},
		{"0-2", 2, "plan.replicas_uneven"},
		{"a", 2, "plan.set_invalid"},
		{"-1-3", 2, "plan.set_invalid"},
	} {
		sets, err := CPUs(c.text, c.n)
		told(t, c.text, c.n, sets, err, c.want)
	}
}

func TestNUMA(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"0,1", 2, "0 | 1"},
		{"0-3", 2, "0-1 | 2-3"},
		{"0,1", 4, "0 | 0 | 1 | 1"},
		{"0", 3, "0 | 0 | 0"},
		{"gpu", 2, "gpu | gpu"},
		{"gpu;0", 2, "gpu | 0"},
		{"0;1", 2, "0 | 1"},
		{"", 2, " | "},
		{"0-2", 2, "plan.replicas_uneven"},
		{"x", 2, "plan.set_invalid"},
	} {
		sets, err := NUMA(c.text, c.n)
		told(t, c.text, c.n, sets, err, c.want)
	}
}

func told(t *testing.T, text string, n int, sets []string, err error, want string) {
	t.Helper()
	got := strings.Join(sets, " | ")
	if f := fault.Of(err, fault.Plan); f != nil {
		got = f.Code
	}
	if got != want {
		t.Errorf("%q to %d: %q, want %q (%v)", text, n, got, want, err)
	}
}

// FuzzDeal: what is dealt out is one set for each, together what was there, and nothing twice.
func FuzzDeal(f *testing.F) {
	for _, text := range []string{"0-7", "0-31,64-95", "0,2,4,6", "all", "count:4", "3-1", "0;1", "", "0-", "-", "00,0"} {
		f.Add(text, 2)
	}
	f.Fuzz(func(t *testing.T, text string, n int) {
		if n < 1 || n > 64 {
			return
		}
		for _, deal := range []func() ([]string, error){
			func() ([]string, error) { return GPUs(text, n, 8) },
			func() ([]string, error) { return CPUs(text, n) },
			func() ([]string, error) { return NUMA(text, n) },
		} {
			if sets, err := deal(); err == nil && len(sets) != n {
				t.Errorf("%q to %d servers: %q", text, n, sets)
			}
		}
		sets, err := CPUs(text, n)
		if err != nil || text == "" || strings.Contains(text, ";") || n == 1 {
			return
		}
		all, err := numbers("server.cpus", text)
		if err != nil {
			t.Fatal(err)
		}
		again, err := numbers("server.cpus", strings.Join(sets, ","))
		if d := cmp.Diff(all, again); err != nil || d != "" {
			t.Errorf("%q to %d servers: %q: %v %s", text, n, sets, err, d)
		}
	})
}
