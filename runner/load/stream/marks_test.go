package stream

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMarksComeBack as they were noted, and take the bytes they claim to.
func TestMarksComeBack(t *testing.T) {
	cases := []struct {
		name  string
		marks []mark
		bytes int
	}{
		{"none", nil, 0},
		{"decode", []mark{{0, -1, 0}, {164_000, -1, 0}, {328_000, -1, 0}, {580_000, -1, 0}}, 1 + 3*3},
		{"one instant", []mark{{7, -1, 0}, {7, -1, 0}}, 2},
		{"usage and ids", []mark{{1, 0, 0}, {2, 5, 5}, {3, -1, 1}, {4, math.MaxInt32, 70_000}}, 3 + 3 + 3 + 1 + 5 + 3},
		{"long gaps, and time that goes back", []mark{{1 << 50, -1, 0}, {3, 1, 0}, {1 << 60, -1, 2}, {-5, -1, 0}}, 8 + 10 + 11 + 9},
	}
	var ms marks
	for _, c := range cases {
		ms.reset()
		for _, m := range c.marks {
			ms.add(m)
		}
		var got []mark
		for i, m := range ms.all() {
			if i != len(got) {
				t.Fatalf("%s: mark %d has number %d", c.name, len(got), i)
			}
			got = append(got, m)
		}
		if diff := cmp.Diff(c.marks, got, cmp.AllowUnexported(mark{})); diff != "" || len(ms.packed) != c.bytes {
			t.Errorf("%s: %d bytes, not %d; %s", c.name, len(ms.packed), c.bytes, diff)
		}
	}
}
