package sim

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// BenchmarkStreams runs 64 streams over TCP through the default engine: CPU of server and client together, and how late tokens are
// against the model's own time.
func BenchmarkStreams(b *testing.B) {
	cfg := Default()
	cfg.MaxRunning = 64
	s := New(cfg)
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	before, events, start := cpu(b), 0, time.Now()
	const tokens = 100
	for b.Loop() {
		var wg sync.WaitGroup
		for i := range 64 {
			wg.Go(func() {
				body := fmt.Sprintf(`{"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true},"ignore_eos":true,"max_tokens":%d,"prompt":"p %d"}`, tokens, i)
				resp, err := client.Post(server.URL+"/v1/completions", "application/json", strings.NewReader(body))
				if err != nil {
					b.Error(err)
					return
				}
				defer resp.Body.Close()
				_, _ = io.Copy(io.Discard, resp.Body)
			})
		}
		wg.Wait()
		events += 64 * tokens
	}
	model := float64(b.N*tokens) * (cfg.StepBase + 64*cfg.StepPerSeq).Seconds()
	b.ReportMetric((cpu(b)-before).Seconds()*1e6/float64(events), "cpu-µs/event")
	b.ReportMetric(100*(time.Since(start).Seconds()/model-1), "%late")
}

func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
