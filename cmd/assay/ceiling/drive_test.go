//go:build linux

package ceiling

import (
	"bytes"
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"assay/runner/record"
	"assay/sim/paced"
)

// TestNothingIsLost drives many streams at a high rate with client and server in one process: counts are exact whatever the times are.
func TestNothingIsLost(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := Point{500, 20_000}
	var out bytes.Buffer
	log := paced.NewLog(&out)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- paced.Serve(ctx, l.(*net.TCPListener), paced.Config{TTFT: p.ttft(), ITL: p.itl(), Events: 1}, log)
	}()
	name := filepath.Join(t.TempDir(), "c.rec")
	d, err := Drive{URL: "http://" + l.Addr().String(), Streams: p.Streams, Tokens: 20, Settle: 500 * time.Millisecond, Duration: 2 * time.Second, Recording: name}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	truths, err := paced.ReadLog(&out)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := record.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	whole, lengths := 0, map[int]bool{}
	for _, r := range rec.Requests {
		if r.Outcome == record.OK {
			whole++
			lengths[len(r.Events)] = true
			if r.OutputTokens != int64(len(r.Events)) || r.FinishReason != "length" {
				t.Errorf("%s: %d tokens told, %d events, finish %q", r.ID, r.OutputTokens, len(r.Events), r.FinishReason)
			}
		}
	}
	a := compare(rec.Requests, truths, d)
	if len(lengths) < 2 {
		t.Errorf("replies have the lengths %v", lengths)
	}
	if a.Lost != 0 || a.Failed != 0 || whole == 0 || a.InFlight > float64(p.Streams)+1e-6 || a.Stamp.P50 < 0 {
		t.Errorf("%d whole requests, %+v", whole, a)
	}
	t.Logf("%d whole requests, %+v", whole, a)
}
