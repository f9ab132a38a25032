package stream

import (
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// TestKernelStampsDoNotWaitForTheReader reads bytes long after they came: the stamp is of their arrival.
func TestKernelStampsDoNotWaitForTheReader(t *testing.T) {
	arrived := make(chan struct{})
	url := serve(t, func(_ int, c net.Conn, _ *http.Request) {
		io.WriteString(c, streamHead+token+finish+doneEvent)
		close(arrived)
	})
	cfg := config(t, url)
	client := cfg.client()
	client.SwitchOnStamps(t.Context())
	defer client.Close()
	if client.StampSource() != "kernel" {
		t.Skip("this system gives no receive stamps")
	}
	c, _, err := client.dialer.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	before := cfg.Clock.Now()
	if _, err := c.Write(client.message(hello(t, cfg))); err != nil {
		t.Fatal(err)
	}
	<-arrived
	<-time.After(80 * time.Millisecond)
	var at int64
	err = c.read(takes(func(a arrival) bool {
		at = a.atUS
		return false
	}))
	if now := cfg.Clock.Now(); err != nil || !c.kernel() || at < before || at > now-70_000 {
		t.Errorf("stamp %d, sent at %d, read at %d, %v", at, before, now, err)
	}
}

func TestImpossibleStamps(t *testing.T) {
	clock := NewClock()
	at := func(us int64) int64 { return us*1000 + clock.offset.Load() }
	cases := []struct {
		name       string
		stamp, now int64
		want       int64
		kernel     bool
	}{
		{"as it should be", at(900), 1000, 900, true},
		{"none", 0, 1000, 1000, false},
		{"a little in the future", at(1500), 1000, 1000, true},
		{"far in the future", at(90_000), 1000, 1000, true},
		{"a little before the last one", at(700), 1000, 800, true},
		{"far before the last one", at(-90_000), 1000, 1000, true},
	}
	for _, c := range cases {
		r := &wire{clock: clock, stamped: true, last: 800}
		if got, _ := r.place(c.stamp, c.now); got != c.want || r.kernel() != c.kernel {
			t.Errorf("%s: placed at %d, kernel %v", c.name, got, r.kernel())
		}
	}
}

func TestClockStepsAreCounted(t *testing.T) {
	clock := NewClock()
	offset := clock.offset.Load()
	clock.reread(offset + 200_000)
	if clock.Steps() != 0 {
		t.Error("a slew counts as a step")
	}
	clock.reread(offset + 5_000_000)
	clock.reread(offset)
	if clock.Steps() != 2 {
		t.Errorf("%d steps, want 2", clock.Steps())
	}
}
