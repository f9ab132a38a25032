package stream

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/runner/record"
)

func TestWeigh(t *testing.T) {
	usage := func(outputs ...int64) (ms marks) {
		for _, o := range outputs {
			ms.add(mark{output: o})
		}
		return ms
	}
	ids := func(counts ...int) (ms marks) {
		for _, n := range counts {
			ms.add(mark{output: -1, ids: n})
		}
		return ms
	}
	cases := []struct {
		name       string
		marks      marks
		usage      int64
		continuous bool
		hidden     int64
		want       []int64
		source     string
	}{
		{"no events", marks{}, 4, false, 0, nil, ""},
		{"growth", usage(1, 2, 6), 6, true, 0, []int64{1, 1, 4}, "usage"},
		{"growth, more at the end", usage(1, 2), 5, true, 0, []int64{1, 4}, "usage"},
		{"growth, an event without", usage(1, -1, 3), 3, true, 0, []int64{1, 0, 2}, "usage"},
		{"growth that falls", usage(5, 3, 7), 7, true, 0, []int64{5, 0, 2}, "usage"},
		{"final below the growth", usage(1, 2, 4), 1, true, 0, []int64{1, 0, 0}, "usage"},
		{"ids", ids(1, 4, 4, 1), record.Never, false, 0, []int64{1, 4, 4, 1}, "ids"},
		{"ids and a hidden end token", ids(1, 4), 6, false, 0, []int64{1, 5}, "ids"},
		{"one event without ids", ids(1, 0), 4, false, 0, []int64{2, 2}, "estimated"},
		{"even share", usage(-1, -1, -1), 7, false, 0, []int64{2, 2, 3}, "estimated"},
		{"fewer tokens than events", usage(-1, -1, -1, -1), 2, false, 0, []int64{0, 1, 0, 1}, "estimated"},
		{"hidden reasoning", usage(-1, -1, -1), 36, false, 30, []int64{32, 2, 2}, "estimated"},
		{"more hidden than told", usage(-1, -1), 4, false, 9, []int64{4, 0}, "estimated"},
		{"hidden beside ids", ids(1, 2), 13, false, 10, []int64{11, 2}, "ids"},
		{"hidden beside growth", usage(31, 32), 32, true, 30, []int64{31, 1}, "usage"},
		{"nothing told", usage(-1, -1), record.Never, false, 0, []int64{1, 1}, "events"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			events, source := weigh(&c.marks, c.usage, c.continuous, c.hidden)
			var got []int64
			for _, e := range events {
				got = append(got, e.Tokens)
			}
			if diff := cmp.Diff(c.want, got); diff != "" || source != c.source {
				t.Errorf("source %q, %s", source, diff)
			}
			if c.usage != record.Never && len(events) > 0 && total(events) != c.usage {
				t.Errorf("the sum is %d, the usage %d", total(events), c.usage)
			}
		})
	}
}
