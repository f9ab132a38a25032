package telemetry

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"assay/probes"
)

// reporting is a program that reports 100 W each second until it falls silent; asking it gives what it reported since the last time.
func reporting(silentAfter time.Duration) probes.Sampler {
	began, given := time.Now(), 0
	return sampler{"tool", func(context.Context) (list []probes.Sample, err error) {
		for at := time.Duration(given) * time.Second; at <= min(time.Since(began), silentAfter); at = time.Duration(given) * time.Second {
			list = append(list, probes.Sample{AtUS: began.Add(at).UnixMicro(), Series: "gpu0.power_w", Value: 100})
			given++
		}
		return list, nil
	}}
}

// TestAShortWindowHasItsEnergy: a program reports each second whatever is asked; a window between two reports is told whole all the same.
func TestAShortWindowHasItsEnergy(t *testing.T) {
	for _, window := range []time.Duration{1300 * time.Millisecond, 4 * time.Second, 19 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			tel, err := Start(t.Context(), t.TempDir(), eachSecond(reporting(time.Hour)))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(2600 * time.Millisecond)
			tel.Mark(t.Context())
			from := time.Now()
			time.Sleep(window)
			to := time.Now()
			tel.Settle(t.Context())
			if late := time.Since(to); late > settleLimit {
				t.Errorf("settled after %s", late)
			}
			power := Summarise(tel.Samples(), from.UnixMicro(), to.UnixMicro())["gpu0.power_w"]
			if want := 100 * window.Seconds(); power.EnergyJ == nil || *power.EnergyJ < 0.99*want || *power.EnergyJ > 1.01*want {
				t.Errorf("%s: %+v", window, power)
			}
			if _, err := tel.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestNobodyWaitsForTheSilent: a source that answers when it is asked costs no time, one that fell silent just now what the limit allows,
// and one that has been silent none.
func TestNobodyWaitsForTheSilent(t *testing.T) {
	for name, c := range map[string]struct {
		after time.Duration // from the start until it is marked
		make  func() probes.Sampler
		want  time.Duration
	}{
		"answers":        {2600 * time.Millisecond, func() probes.Sampler { n := 0; return ticking("a", 1, &n) }, 0},
		"silent now":     {2600 * time.Millisecond, func() probes.Sampler { return reporting(2 * time.Second) }, settleLimit},
		"silent for now": {9600 * time.Millisecond, func() probes.Sampler { return reporting(2 * time.Second) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tel, err := Start(t.Context(), t.TempDir(), eachSecond(c.make()))
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(c.after)
				before := time.Now()
				tel.Mark(t.Context())
				if took := time.Since(before); took != c.want {
					t.Errorf("marked after %s, not %s", took, c.want)
				}
				if _, err := tel.Close(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// TestTheFirstReportIsWaitedFor: a program takes a while to start; the first point begins with its report, or without it when it fails or
// takes too long.
func TestTheFirstReportIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		starts time.Duration // until it reports
		err    error
		want   time.Duration // until the point begins
	}{
		"slow":  {2100 * time.Millisecond, nil, 2500 * time.Millisecond},
		"fails": {time.Hour, errors.New("no such program"), 0},
		"hangs": {time.Hour, nil, firstReport},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				starting := sampler{"tool", func(context.Context) ([]probes.Sample, error) {
					if time.Since(began) < c.starts {
						return nil, c.err
					}
					return []probes.Sample{{AtUS: time.Now().UnixMicro(), Series: "gpu0.power_w", Value: 100}}, nil
				}}
				var closed atomic.Int32
				tel, err := Start(t.Context(), t.TempDir(), eachSecond(holder{starting, &closed}))
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				tel.Mark(t.Context())
				if took := time.Since(began); took != c.want {
					t.Errorf("marked after %s, not %s", took, c.want)
				}
				if _, err := tel.Close(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}
