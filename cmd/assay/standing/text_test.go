package standing

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/result"
)

func TestText(t *testing.T) {
	n := result.Node{State: result.NodeDirty, SeenUS: 1_796_079_685_000_000,
		Marks:   []result.Mark{{State: result.NodeDirty, SinceUS: 1_796_079_685_000_000, Text: "GPU 3 holds 120.0 GiB\x1b[31m", Run: "r1", Hint: "end pid 812 python3"}},
		Devices: []result.Device{{Address: "0000:35:00.0", Name: "AMD Instinct MI300X", SeenUS: 1_796_079_685_000_000}}}
	const head = "node dirty, looked at 2026-11-30 23:01:25 UTC\n  dirty since 2026-11-30 23:01:25 UTC: GPU 3 holds 120.0 GiB\\x1b[31m\n    left or found by run: r1\n    do: end pid 812 python3\n"
	for devices, want := range map[bool]string{false: head, true: head + "  0000:35:00.0  AMD Instinct MI300X, answered 2026-11-30 23:01:25 UTC\n"} {
		var b bytes.Buffer
		Text(&b, n, devices)
		if diff := cmp.Diff(want, b.String()); diff != "" {
			t.Error(diff)
		}
	}
	var b bytes.Buffer
	if Text(&b, result.Node{State: result.NodeReady}, true); b.String() != "node ready\n" {
		t.Errorf("%q", b.String())
	}
}
