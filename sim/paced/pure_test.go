package paced

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestQueueGivesTheFirstDue(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var q queue
	var left []int64
	for range 3000 {
		if len(left) > 0 && rng.IntN(3) == 0 {
			slices.Sort(left)
			if got := q.pop().dueNS; got != left[0] {
				t.Fatalf("got %d, want %d", got, left[0])
			}
			left = left[1:]
			continue
		}
		due := rng.Int64N(500)
		q.push(&stream{dueNS: due})
		left = append(left, due)
	}
}

func TestSchedule(t *testing.T) {
	ms := func(n float64) int64 { return int64(n * 1e6) }
	alone := Config{TTFT: 10 * time.Millisecond, ITL: 4 * time.Millisecond}
	grouped := alone
	grouped.Groups = 2
	seen := map[int64]bool{}
	for n := range uint64(1000) {
		due := alone.first(ms(100), n)
		if due < ms(110) || due >= ms(114) {
			t.Fatalf("request %d is due at %d", n, due)
		}
		seen[(due-ms(110))/ms(0.25)] = true
	}
	if len(seen) != 16 {
		t.Errorf("%d of 16 phases", len(seen))
	}
	for n, want := range []int64{ms(112), ms(110)} { // steps of group 0 at multiples of 4 ms, of group 1 2 ms later
		if got := grouped.first(ms(100), uint64(n)); got != want {
			t.Errorf("group %d: due at %d, want %d", n, got, want)
		}
	}
	cases := []struct {
		name           string
		cfg            Config
		due, now, want int64
	}{
		{"in time", alone, ms(100), ms(101), ms(104)},
		{"late", alone, ms(100), ms(110), ms(112)},
		{"a group in time", grouped, ms(100), ms(101), ms(104)},
		{"a late group goes on with its next step", grouped, ms(100), ms(109), ms(112)},
		{"no schedule", Config{}, ms(100), ms(110), ms(110)},
	}
	for _, c := range cases {
		if got := c.cfg.next(c.due, c.now); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestConfig(t *testing.T) {
	good := Config{ITL: time.Millisecond, Events: 1}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*Config){
		"ITL": func(c *Config) { c.ITL = -1 }, "TTFT": func(c *Config) { c.TTFT = -1 },
		"groups": func(c *Config) { c.Groups = -1 }, "events": func(c *Config) { c.Events = 0 }, "many events": func(c *Config) { c.Events = 1001 },
	} {
		bad := good
		if spoil(&bad); bad.Validate() == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestLogKeepsAll(t *testing.T) {
	want := []Truth{
		{N: 0, ArrivedNS: 5_000_000_000_000, EndedNS: 5_000_000_700_000, Whole: true, SentNS: []int64{5_000_000_100_000, 5_000_000_100_000, 5_000_000_600_000}},
		{N: 3, ArrivedNS: 1, EndedNS: 1},
		{N: 1 << 40, ArrivedNS: 2, EndedNS: 9, SentNS: []int64{8}},
	}
	var out bytes.Buffer
	log := NewLog(&out)
	for _, truth := range want {
		log.append(truth)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := ReadLog(bytes.NewReader(out.Bytes()))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if got, err := ReadLog(bytes.NewReader(out.Bytes()[:out.Len()-1])); err == nil || len(got) != 2 {
		t.Errorf("cut off: %d requests, %v", len(got), err)
	}
}
