package stream

import (
	"context"
	"sync"
	"testing"
	"time"
)

// TestDelayBuckets: each bucket begins where the one before ends, and none is wider than an eighth of what it holds.
func TestDelayBuckets(t *testing.T) {
	var from int64
	for i := range delayBuckets - 1 {
		to := int64(DelayUS(i))
		if delayBucket(from) != i || delayBucket(to) != i || delayBucket(to+1) != i+1 {
			t.Fatalf("bucket %d is said to hold %d to %d µs", i, from, to)
		}
		if i >= 16 && float64(to-from+1) > float64(from)/8 {
			t.Fatalf("bucket %d from %d to %d µs is too wide", i, from, to)
		}
		from = to + 1
	}
	if delayBucket(1<<62) != delayBuckets-1 {
		t.Error("a delay of ages has no bucket")
	}
}

func TestVitalsAddUp(t *testing.T) {
	v := NewVitals()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s := v.shard()
			for i := range 1000 {
				v.connected()
				s.read(10, int64(i%20)-1)
				v.closed()
			}
		})
	}
	wg.Wait()
	c := v.Now()
	var delays int64
	for _, n := range c.Delays {
		delays += n
	}
	if c.Opened != 8000 || c.AtOnce < 1 || c.AtOnce > 8 || c.Reads != 8000 || c.Bytes != 80_000 || delays != 8000-8*50 || v.open.Load() != 0 {
		t.Errorf("%+v", c)
	}
}

func BenchmarkVitalsRead(b *testing.B) {
	v := NewVitals()
	b.RunParallel(func(pb *testing.PB) {
		s := v.shard()
		for pb.Next() {
			s.read(200, 40)
		}
	})
}

// TestWakeups: the client's own messages are counted as delays, and as nothing else.
func TestWakeups(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	v, begun, ended := NewVitals(), time.Now(), make(chan error, 1)
	go func() { ended <- v.Wakeups(ctx, NewClock()) }()
	var c Counts
	var delays int64
	for tick := time.Tick(wakeupEvery); delays < 5; { // for as long as it takes
		select {
		case err := <-ended:
			t.Fatal(err)
		case <-tick:
		}
		c, delays = v.Now(), 0
		for _, n := range c.Delays {
			delays += n
		}
	}
	most := int64(time.Since(begun) / wakeupEvery)
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if delays > most || c.Reads != 0 || c.Opened != 0 {
		t.Errorf("%d delays in the time of %d, %d reads, %d connections", delays, most, c.Reads, c.Opened)
	}
}
