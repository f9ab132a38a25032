package kernel

import "testing"

func FuzzCgroup(f *testing.F) {
	f.Add("0::/a/b\n4:memory:/d\n9:name=systemd:/x")
	f.Add("::../../etc\n1:cpu:")
	f.Fuzz(func(t *testing.T, text string) {
		for _, g := range parseCgroup(text) {
			if len(g.dirs) == 0 || len(g.dirs) > maxGroupDepth || g.dirs[0][0] != '/' {
				t.Errorf("%q leads to %q", text, g.dirs)
			}
		}
	})
}

// FuzzText feeds the readers of single lines and words.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"SwapTotal: 5 kB\n", "NAME=\"x\"\n", "12288", "0.42 1.30 2.25 1/900 4242", "100000", "Mitigation: x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := swapBytes(text); err == nil && n < 0 {
			t.Errorf("%d bytes of swap", n)
		}
		if n, err := memoryLimit(text); err == nil && n <= 0 {
			t.Errorf("a limit of %d bytes", n)
		}
		if n, err := cpuQuota(text, "100000"); err == nil && !(n > 0) {
			t.Errorf("a quota of %g CPUs", n)
		}
		if v, err := fieldNumber(text, 1); err == nil && !(v >= 0) {
			t.Errorf("a load of %g", v)
		}
		if s, err := parseOSRelease(text); err == nil && s == "" {
			t.Error("an empty system")
		}
		parseTaint(text)
		mitigation(text)
	})
}
