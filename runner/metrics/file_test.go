package metrics

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"assay/runner/record"
)

// replies writes a recording of 866-token replies shaped like a published sweep's largest point: a gap (66 ms or what is given) with 5 % of
// noise, every hundredth a spike. It gives the file and its number of token events.
func replies(t testing.TB, requests int, gapUS float64) (path string, file record.File) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "c512.rec")
	w, err := record.Create(path, record.Header{Run: "r", Point: "c512", StampSource: "kernel"})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	events := make([]record.Event, 866)
	for i := range requests {
		if err := w.Append(reply(rng, i, gapUS, events)); err != nil {
			t.Fatal(err)
		}
	}
	if file, err = w.Close(); err != nil {
		t.Fatal(err)
	}
	return path, file
}

// reply is one request whose events stand in the memory given.
func reply(rng *rand.Rand, i int, gapUS float64, events []record.Event) record.Request {
	sent := int64(i) * 1000
	at := sent + 200_000
	for k := range events {
		events[k] = record.Event{AtUS: at, Tokens: 1}
		gap := gapUS * (1 + 0.05*rng.NormFloat64())
		if rng.Uint32()%100 == 0 {
			gap *= 4
		}
		at += int64(gap)
	}
	return record.Request{Index: i, ID: "chatcmpl-6f1d7bd26f204f2ba5dd4dd9f4fd2be0", Session: "conversation-00412", Turn: i % 8, IntendedUS: sent, SentUS: sent + 20,
		ConnectUS: record.Never, FirstByteUS: sent + 199_000, DoneUS: events[len(events)-1].AtUS + 40, Outcome: record.OK, Status: 200, FinishReason: "stop",
		RetryAfterUS: record.Never, InputTokens: 30_000, OutputTokens: int64(len(events)), CachedTokens: 29_000, TokenSource: "usage", BytesIn: 250_000, FirstAnswer: 12, Events: events}
}

// BenchmarkFile is a whole point read from its file: every percentile of every distribution, on one core.
func BenchmarkFile(b *testing.B) {
	for _, size := range []struct {
		name     string
		requests int
		gapUS    float64
	}{{"1M", 1_155, 66_000}, {"56M", 64_820, 66_000}, {"56M_160ms", 64_820, 160_000}} {
		b.Run(size.name, func(b *testing.B) {
			path, file := replies(b, size.requests, size.gapUS)
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			cpu := cpuTime(b)
			for b.Loop() {
				window := OverWindow(Window{EndUS: 1 << 40}, Shape{Concurrency: 512})
				_, err := record.ScanFile(path, func(r *record.Request) error { window.Add(r); return nil })
				if s := window.Summary(); err != nil || s.ITLMS.N != file.Events-int64(file.Requests) {
					b.Fatal(s.ITLMS, err)
				}
			}
			cpu = cpuTime(b) - cpu
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(info.Size())/float64(file.Events), "B/token")
			b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(float64(cpu.Nanoseconds())/float64(b.N)/float64(file.Events), "cpu-ns/token")
			b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(b.N)/(1<<20), "MiB/op")
		})
	}
}

// cpuTime is what this process used: unlike the time that passed, it is the same on a busy machine.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
