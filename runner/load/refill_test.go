package load_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"assay/runner/dataset"
	"assay/runner/load"
	"assay/runner/record"
	"assay/sim/paced"
)

// same is a source of one short prompt.
type same struct{}

func (same) Next() (dataset.Conversation, error) {
	return dataset.Conversation{ID: "c", Turns: []dataset.Turn{{Messages: []dataset.Message{{Role: "user", Content: "hi"}}}}}, nil
}

func (same) Stats() dataset.Stats { return dataset.Stats{} }

// BenchmarkRefill tells how long a slot lies idle between two requests, and the mean number in flight by the server's own log: what is
// missing there of the concurrency is what the client failed to offer.
func BenchmarkRefill(b *testing.B) {
	for _, streams := range []int{1, 16, 128, 512} {
		b.Run(fmt.Sprintf("streams=%d", streams), func(b *testing.B) {
			for b.Loop() {
				refill(b, streams)
			}
		})
	}
}

const (
	refillTokens  = 50
	refillSeconds = 3
)

func refill(b *testing.B, streams int) {
	var truth bytes.Buffer
	target, stop := pacedServer(b, &truth)
	var requests []record.Request
	clock := load.NewClock()
	zero := paced.Monotonic() - clock.Now()*1000
	file := recording(b)
	res, err := load.Run(b.Context(), load.Config{
		Targets: []load.Target{target}, Clock: clock, Stall: time.Minute, Drain: time.Minute, Salt: load.Salt{Kind: "none"},
		Request: load.Request{Endpoint: "chat", Model: "paced", Dialect: "openai", MaxTokens: refillTokens},
		Closed:  &load.Closed{Concurrency: streams, Duration: refillSeconds * time.Second},
	}, same{}, func(r record.Request) error { requests = append(requests, r); return file.Append(r) }, func(load.Progress) {})
	stop()
	if err != nil {
		b.Fatal(err)
	}
	said, err := paced.ReadLog(&truth)
	if err != nil {
		b.Fatal(err)
	}
	w := res.Window
	var busy int64
	for _, t := range said {
		busy += max(0, min((t.EndedNS-zero)/1000, w.EndUS)-max((t.ArrivedNS-zero)/1000, w.StartUS))
	}
	b.ReportMetric(100*float64(busy)/float64(w.EndUS-w.StartUS)/float64(streams), "%in-flight")
	idle := idleTimes(requests, w)
	if len(idle) == 0 {
		b.Fatalf("no request was sent in the window: %+v, %d requests", res, len(requests))
	}
	b.ReportMetric(float64(idle[len(idle)/2]), "us-idle-p50")
	b.ReportMetric(float64(idle[len(idle)*99/100]), "us-idle-p99")
	b.ReportMetric(float64(len(idle))/refillSeconds, "refills/s")
}

// recording is where the requests go, as they do in a run.
func recording(b *testing.B) *record.Writer {
	file, err := record.Create(filepath.Join(b.TempDir(), "c.rec"), record.Header{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if _, err := file.Close(); err != nil {
			b.Error(err)
		}
	})
	return file
}

// idleTimes are those between the end of a request, when the next one of its slot was due, and the sending of that, sorted.
func idleTimes(requests []record.Request, w load.Span) (idle []int64) {
	for _, r := range requests {
		if !r.Warmup && r.SentUS >= w.StartUS && r.SentUS < w.EndUS {
			idle = append(idle, r.SentUS-r.IntendedUS)
		}
	}
	slices.Sort(idle)
	return idle
}

func pacedServer(b *testing.B, truth *bytes.Buffer) (target load.Target, stop func()) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	if target, err = load.ParseTarget("http://" + l.Addr().String()); err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	log, ended := paced.NewLog(truth), make(chan error, 1)
	go func() {
		ended <- paced.Serve(ctx, l.(*net.TCPListener), paced.Config{TTFT: 5 * time.Millisecond, ITL: 10 * time.Millisecond, Events: 1}, log)
	}()
	return target, func() {
		cancel()
		if err := <-ended; err != nil && ctx.Err() == nil {
			b.Fatal(err)
		}
		if err := log.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
