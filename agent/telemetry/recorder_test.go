package telemetry

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/probes"
)

// sampler is a source made of a function.
type sampler struct {
	name string
	read func(context.Context) ([]probes.Sample, error)
}

func (s sampler) Name() string                                        { return s.name }
func (s sampler) Sample(ctx context.Context) ([]probes.Sample, error) { return s.read(ctx) }

// eachSecond are sources that are asked once a second.
func eachSecond(samplers ...probes.Sampler) (sources []Source) {
	for _, s := range samplers {
		sources = append(sources, Source{s, time.Second})
	}
	return sources
}

// ticking counts its readings and gives one sample each, at the time it was asked.
func ticking(name string, value float64, asked *int) sampler {
	return sampler{name, func(context.Context) ([]probes.Sample, error) {
		*asked++
		return []probes.Sample{{AtUS: time.Now().UnixMicro(), Series: name, Value: value}}, nil
	}}
}

func TestASamplerThatHangsDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var quick, polite, deaf int
		wake := make(chan struct{})
		defer close(wake)
		all := []probes.Sampler{
			ticking("quick", 1, &quick),
			sampler{"polite", func(ctx context.Context) ([]probes.Sample, error) {
				polite++
				<-ctx.Done()
				return nil, ctx.Err()
			}},
			sampler{"deaf", func(context.Context) ([]probes.Sample, error) {
				deaf++
				<-wake
				return nil, nil
			}},
			sampler{"broken", func(context.Context) ([]probes.Sample, error) { return nil, errors.New("no such sensor") }},
		}
		tel, err := Start(t.Context(), t.TempDir(), eachSecond(all...))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10*time.Second + time.Millisecond) // of the bubble
		began := time.Now()
		lost, err := tel.Close()
		if err != nil || time.Since(began) != 0 {
			t.Errorf("close took %s: %v", time.Since(began), err)
		}
		want := map[string]string{"polite": "did not answer within 2s", "deaf": "did not answer within 2s", "broken": "no such sensor"}
		if diff := cmp.Diff(want, lost); diff != "" {
			t.Error(diff)
		}
		synctest.Wait()
		if quick != 11 || polite < 4 || deaf != 1 {
			t.Errorf("quick was asked %d times, polite %d, deaf %d", quick, polite, deaf)
		}
	})
}

// holder is a sampler that holds something until it is closed.
type holder struct {
	sampler
	closed *atomic.Int32
}

func (h holder) Close() error { h.closed.Add(1); return errors.New("the tool went on") }

// TestSamplersAreClosed: what a sampler holds is let go when sampling ends, also when its last reading never came back.
func TestSamplersAreClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, wake := 0, make(chan struct{})
		var closed atomic.Int32
		defer close(wake)
		deaf := sampler{"deaf", func(context.Context) ([]probes.Sample, error) { <-wake; return nil, nil }}
		tel, err := Start(t.Context(), t.TempDir(), eachSecond(holder{ticking("tool", 1, &asked), &closed}, holder{deaf, &closed}))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second + time.Millisecond) // of the bubble
		if closed.Load() != 0 {
			t.Error("closed before the end")
		}
		lost, err := tel.Close()
		if err != nil || closed.Load() != 2 || lost["tool"] != "the tool went on" {
			t.Errorf("closed %d of 2; %v, %v", closed.Load(), lost, err)
		}
	})
}

func TestTelemetryOfAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, asked := t.TempDir(), 0
		began := time.Now().UnixMicro()
		nan := 0
		tel, err := Start(t.Context(), dir, eachSecond(ticking("s", 7, &asked), ticking("nan", math.NaN(), &nan)))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2500 * time.Millisecond)
		tel.Mark(t.Context())
		time.Sleep(5 * time.Second)
		in := Within(tel.Samples(), began+4e6, began+7e6)
		if len(in) != 3 || in[0].AtUS != began+4e6 {
			t.Errorf("samples of [4 s, 7 s): %v", in)
		}
		if early := Within(tel.Samples(), began, began+2.5e6); early != nil {
			t.Errorf("samples of the point before: %v", early)
		}
		if _, err := tel.Close(); err != nil {
			t.Fatal(err)
		}
		n := 0
		Read(filepath.Join(dir, FileName), func(s probes.Sample) bool { n++; return s.Series == "s" && s.Value == 7 })
		if n != asked || nan != asked {
			t.Errorf("%d samples in the file, %d taken", n, asked)
		}
	})
}

// TestEveryLineIsASample: the file has no empty line, neither when it is begun nor when it is gone on with.
func TestEveryLineIsASample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, asked := t.TempDir(), 0
		for range 2 {
			tel, err := Start(t.Context(), dir, eachSecond(ticking("b", 2, &asked)))
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if _, err := tel.Close(); err != nil {
				t.Fatal(err)
			}
		}
		b, err := os.ReadFile(filepath.Join(dir, FileName))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		if len(lines) != 2 || slices.Contains(lines, "") {
			t.Errorf("%q", lines)
		}
	})
}

// TestADiskThatHangsHoldsUpNobodyWhoAsks: the load asks for the engine's state, and a scrape for the latest samples, while nothing can be
// written.
func TestADiskThatHangsHoldsUpNobodyWhoAsks(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, FileName)
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	tel, err := Start(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		tel.keep("s", make([]probes.Sample, 1<<14), nil) // more than a pipe holds
	}()
	for len(tel.Latest()) == 0 {
		runtime.Gosched()
	}
	tel.Mark(t.Context())
	if _, told := tel.Engine(); told || len(tel.Samples()) != 0 {
		t.Error("an engine that said nothing, or samples of before the mark")
	}
	select {
	case <-written:
		t.Fatal("the pipe held it all")
	default:
	}
	reader, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	go io.Copy(io.Discard, reader)
	<-written
	if _, err := tel.Close(); err != nil {
		t.Error(err)
	}
}

func TestSamplesBehindATornLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, asked := t.TempDir(), 0
		torn := `{"t":1,"s":"a","v":1}` + "\n" + `{"t":2,"`
		if err := os.WriteFile(filepath.Join(dir, FileName), []byte(torn), 0o600); err != nil {
			t.Fatal(err)
		}
		tel, err := Start(t.Context(), dir, eachSecond(ticking("b", 2, &asked)))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := tel.Close(); err != nil {
			t.Fatal(err)
		}
		var got []string
		Read(filepath.Join(dir, FileName), func(s probes.Sample) bool { got = append(got, s.Series); return true })
		if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
			t.Error(diff)
		}
		Read(filepath.Join(dir, FileName), func(probes.Sample) bool { got = nil; return false })
		if got != nil {
			t.Error("reading went on though nobody wants more")
		}
	})
}
