package agent

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/probes"
	"assay/result"
)

func series(name string, atAndValue ...float64) []probes.Sample {
	var out []probes.Sample
	for i := 0; i < len(atAndValue); i += 2 {
		out = append(out, probes.Sample{AtUS: int64(atAndValue[i] * 1e6), Series: name, Value: atAndValue[i+1]})
	}
	return out
}

func TestSummarise(t *testing.T) {
	samples := append(series("gpu0.power_w", 10, 100, 11, 300, 13, 200), series("host.cpu_pct", 10, 50)...)
	samples = append(samples, series("gpu1.power_w", 10, 70)...)
	joules := 1*(100+300)/2.0 + 2*(300+200)/2.0
	want := map[string]result.Telemetry{
		"gpu0.power_w": {Unit: "W", Min: 100, Mean: 200, Max: 300, N: 3, SpanS: 3, EnergyJ: &joules},
		"gpu1.power_w": {Unit: "W", Min: 70, Mean: 70, Max: 70, N: 1}, // one sample spans no time
		"host.cpu_pct": {Unit: "%", Min: 50, Mean: 50, Max: 50, N: 1},
	}
	if diff := cmp.Diff(want, summarise(samples)); diff != "" {
		t.Error(diff)
	}
	if got := summarise(nil); got == nil || len(got) != 0 {
		t.Errorf("nothing sampled gives %v", got)
	}
}

// sampler is a source made of a function.
type sampler struct {
	name string
	read func(context.Context) ([]probes.Sample, error)
}

func (s sampler) Name() string                                        { return s.name }
func (s sampler) Sample(ctx context.Context) ([]probes.Sample, error) { return s.read(ctx) }

// eachSecond are sources that are asked once a second.
func eachSecond(samplers ...probes.Sampler) (sources []source) {
	for _, s := range samplers {
		sources = append(sources, source{s, time.Second})
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
		tel, err := startTelemetry(t.Context(), t.TempDir(), eachSecond(all...))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10*time.Second + time.Millisecond) // of the bubble
		began := time.Now()
		lost, err := tel.close()
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

func TestTelemetryOfAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, asked := t.TempDir(), 0
		began := time.Now().UnixMicro()
		nan := 0
		tel, err := startTelemetry(t.Context(), dir, eachSecond(ticking("s", 7, &asked), ticking("nan", math.NaN(), &nan)))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2500 * time.Millisecond)
		tel.mark()
		time.Sleep(5 * time.Second)
		in := tel.within(began+4e6, began+7e6)
		if len(in) != 3 || in[0].AtUS != began+4e6 {
			t.Errorf("samples of [4 s, 7 s): %v", in)
		}
		if early := tel.within(began, began+2.5e6); early != nil {
			t.Errorf("samples of the point before: %v", early)
		}
		if _, err := tel.close(); err != nil {
			t.Fatal(err)
		}
		n := 0
		readSamples(filepath.Join(dir, telemetryFile), func(s probes.Sample) bool { n++; return s.Series == "s" && s.Value == 7 })
		if n != asked || nan != asked {
			t.Errorf("%d samples in the file, %d taken", n, asked)
		}
	})
}

func TestSamplesBehindATornLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, asked := t.TempDir(), 0
		torn := `{"t":1,"s":"a","v":1}` + "\n" + `{"t":2,"`
		if err := os.WriteFile(filepath.Join(dir, telemetryFile), []byte(torn), 0o600); err != nil {
			t.Fatal(err)
		}
		tel, err := startTelemetry(t.Context(), dir, eachSecond(ticking("b", 2, &asked)))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := tel.close(); err != nil {
			t.Fatal(err)
		}
		var got []string
		readSamples(filepath.Join(dir, telemetryFile), func(s probes.Sample) bool { got = append(got, s.Series); return true })
		if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
			t.Error(diff)
		}
		readSamples(filepath.Join(dir, telemetryFile), func(probes.Sample) bool { got = nil; return false })
		if got != nil {
			t.Error("reading went on though nobody wants more")
		}
	})
}
