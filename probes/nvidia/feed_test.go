package nvidia

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/probes/host"
	"assay/probes/sut"
)

// help is what a driver says it can be asked for.
const help = `List of valid properties to query for the switch "--query-gpu":

"pci.bus_id" or "gpu_bus_id"
PCI bus id as "domain:bus:device.function", in hex.

"power.draw"
"power.draw.instant" or "gpu.power.draw.instant"
"temperature.gpu"
"clocks_event_reasons_counters.sw_power_cap"
`

// reports is a program's endless work: a header, and one report after another of two GPUs.
const reports = `echo "pci.bus_id, power.draw.instant [W], power.draw [W], temperature.gpu, clocks_event_reasons_counters.sw_power_cap [us]"
while :; do
	echo "00000000:19:00.0, 600.5, 590.00, 61, 2500000"
	echo "00000000:3B:00.0, [N/A], 71.25, 30, 0"
	sleep 0.02
done
`

// fakeHost is a live machine with two GPUs, on which nvidia-smi is a script: help answers what it can be asked for, and body is what it
// does when it is to go on reporting. $HERE is a folder of the test.
func fakeHost(t *testing.T, help, body string) (host.Host, string) {
	t.Helper()
	dir := t.TempDir()
	for address, class := range map[string]string{"0000:19:00.0": "0x030200", "0000:3b:00.0": "0x030200"} {
		put(t, filepath.Join(dir, "sys/bus/pci/devices", address, "vendor"), "0x10de\n")
		put(t, filepath.Join(dir, "sys/bus/pci/devices", address, "class"), class)
	}
	script := "#!/bin/sh\nHERE=" + dir + "\ncase \"$*\" in\n--help-query-gpu) cat <<'END'\n" + help + "END\n;;\n*-lms*)\necho \"$*\" >>$HERE/starts\n" + body + ";;\nesac\n"
	put(t, filepath.Join(dir, "bin/nvidia-smi"), script)
	if err := os.Chmod(filepath.Join(dir, "bin/nvidia-smi"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	live := host.Live()
	live.Root = dir
	return live, dir
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// quick is a pace for programs that answer at once.
func quick() pace {
	return pace{every: 20 * time.Millisecond, silence: 20 * time.Second, between: 20 * time.Second, pause: time.Millisecond}
}

// open starts a feed at a pace.
func open(t *testing.T, h host.Host, p pace) *feed {
	t.Helper()
	s, ok := NewSampler(h)
	if !ok {
		t.Fatal("the host has no GPU")
	}
	f := startPaced(t.Context(), h, s.numbers, p)
	t.Cleanup(func() { f.stop(); <-f.ended })
	return f
}

// await takes from a feed until what came is enough.
func await(t *testing.T, f *feed, enough func([]sut.Sample, error) bool) ([]sut.Sample, error) {
	t.Helper()
	var all []sut.Sample
	var first error
	for {
		samples, err := f.take()
		all = append(all, samples...)
		if first == nil {
			first = err
		}
		if enough(all, first) {
			return all, first
		}
		select {
		case <-f.news:
		case <-t.Context().Done():
			t.Fatalf("no news; so far %d samples, %v", len(all), first)
		}
	}
}

func atLeast(n int) func([]sut.Sample, error) bool {
	return func(s []sut.Sample, _ error) bool { return len(s) >= n }
}

func failed(_ []sut.Sample, err error) bool { return err != nil }

// TestOneProgramReports: all samples come from one start of the tool, which was asked for what it knows and for nothing else; the reading
// of the instant goes before the mean, and stands in for none.
func TestOneProgramReports(t *testing.T) {
	h, dir := fakeHost(t, help, reports)
	f := open(t, h, quick())
	samples, err := await(t, f, atLeast(40))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, s := range samples {
		if s.AtUS == 0 {
			t.Errorf("%+v has no time", s)
		}
		got[s.Series] = s.Value
	}
	want := map[string]float64{
		"gpu0.power_w": 600.5, "gpu1.power_w": 71.25, "gpu0.temp_c": 61, "gpu1.temp_c": 30, "gpu0.throttle_power_s": 2.5, "gpu1.throttle_power_s": 0,
		"gpu0.throttle_power_pct": 0, "gpu1.throttle_power_pct": 0, "gpu0.throttle_pct": 0, "gpu1.throttle_pct": 0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	starts, err := os.ReadFile(filepath.Join(dir, "starts"))
	const asked = "--query-gpu=pci.bus_id,power.draw.instant,power.draw,temperature.gpu,clocks_event_reasons_counters.sw_power_cap --format=csv,nounits -lms 20\n"
	if err != nil || string(starts) != asked {
		t.Errorf("starts: %q, %v", starts, err)
	}
	last := map[string]int64{}
	for _, s := range samples {
		if s.AtUS <= last[s.Series] {
			t.Fatalf("%+v came after %d", s, last[s.Series])
		}
		last[s.Series] = s.AtUS
	}
}

// TestCloseEndsAll: closing a sampler ends the program and what it started, and a Sample afterwards starts nothing.
func TestCloseEndsAll(t *testing.T) {
	h, dir := fakeHost(t, help, "sleep 1000 >$HERE/held &\nexec 3>$HERE/held\n"+reports)
	held := filepath.Join(dir, "held") // both hold this pipe open
	if err := syscall.Mkfifo(held, 0o600); err != nil {
		t.Fatal(err)
	}
	s, _ := NewSampler(h)
	if samples, err := s.Sample(t.Context()); err != nil || len(samples) != 0 {
		t.Fatalf("the first sample waits for nobody: %d, %v", len(samples), err)
	}
	end, err := os.Open(held)
	if err != nil {
		t.Fatal(err)
	}
	await(t, s.feed, atLeast(1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	<-s.feed.ended
	if _, err := io.Copy(io.Discard, end); err != nil { // ends when nobody holds it
		t.Fatal(err)
	}
	if err := errors.Join(end.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	unused, _ := NewSampler(h)
	if err := unused.Close(); err != nil {
		t.Fatal(err)
	}
	if samples, err := unused.Sample(t.Context()); err != nil || len(samples) != 0 || unused.feed != nil {
		t.Errorf("a closed sampler samples: %d, %v", len(samples), err)
	}
}

// TestProgramEnds: one that ends is started anew, and why it ended is told once.
func TestProgramEnds(t *testing.T) {
	h, dir := fakeHost(t, help, `echo "pci.bus_id, power.draw [W]"
echo "00000000:19:00.0, 5.00"
echo "Unable to determine the device handle for GPU 0000:19:00.0: GPU is lost." >&2
exit 15
`)
	f := open(t, h, quick())
	samples, err := await(t, f, atLeast(3))
	if err == nil || !strings.Contains(err.Error(), "exit status 15") || !strings.Contains(err.Error(), "GPU is lost") {
		t.Errorf("%v", err)
	}
	for _, s := range samples {
		if s.Series != "gpu0.power_w" || s.Value != 5 {
			t.Errorf("%+v", s)
		}
	}
	if starts, _ := os.ReadFile(filepath.Join(dir, "starts")); strings.Count(string(starts), "\n") < 3 {
		t.Errorf("started %q", starts)
	}
}

// TestProgramMisbehaves: one that hangs, one that prints a line without an end, and one that prints no report are stopped; nobody waits.
func TestProgramMisbehaves(t *testing.T) {
	short := quick()
	short.silence = 200 * time.Millisecond
	later := quick()
	later.silence, later.between = time.Hour, 200*time.Millisecond
	for name, c := range map[string]struct {
		body, want string
		pace       pace
	}{
		"hangs":             {"sleep 1000\n", "printed nothing for", short},
		"hangs later":       {"echo \"pci.bus_id, power.draw [W]\"\necho \"00000000:19:00.0, 5\"\nsleep 1000\n", "printed nothing for", later},
		"endless line":      {"tr '\\0' x </dev/zero\n", "printed no line", quick()},
		"no report":         {"while :; do echo all is well; done\n", "no report", quick()},
		"headers":           {"while :; do echo \"pci.bus_id, power.draw [W]\"; done\n", "no report", quick()},
		"endless machine":   {"echo \"pci.bus_id, power.draw [W]\"\nawk 'BEGIN { for (i = 0; ; i++) printf \"%08x:19:00.0, 5\\n\", i }'\n", "no report", quick()},
		"other columns":     {"echo \"pci.bus_id, power.draw [W]\"\nwhile :; do echo \"00000000:19:00.0, 5, 6\"; done\n", "no report", quick()},
		"left its group":    {"setsid sleep 3 &\nsleep 0.1\nexit 0\n", "printed nothing for", short},
		"nothing but error": {"echo \"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\"\nexit 9\n", "couldn't communicate", quick()},
	} {
		t.Run(name, func(t *testing.T) {
			h, _ := fakeHost(t, help, c.body)
			f := open(t, h, c.pace)
			if _, err := await(t, f, failed); !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestSilentAtTheEnd: a sampler that is let go tells of a program that has not reported for three intervals, and of none that has.
func TestSilentAtTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		ago  time.Duration
		err  error
		want string
	}{
		"reports": {ago: time.Second},
		"silent":  {ago: 4 * time.Second, want: "reported nothing in the last 4s"},
		"ended":   {ago: time.Second, err: errNoReport, want: errNoReport.Error()},
	} {
		s := Sampler{feed: &feed{stop: func() {}, pace: defaultPace(), heard: time.Now().Add(-c.ago), trouble: c.err}}
		if err := s.Close(); (err == nil) != (c.want == "") || err != nil && err.Error() != "nvidia-smi "+c.want && err.Error() != c.want {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s, again: %v", name, err)
		}
	}
}

// TestNoProgram: a machine whose tool is gone says so.
func TestNoProgram(t *testing.T) {
	h, dir := fakeHost(t, help, reports)
	if err := os.Remove(filepath.Join(dir, "bin/nvidia-smi")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(dir, "bin"))
	if _, err := await(t, open(t, h, quick()), failed); !errors.Is(err, host.ErrNotFound) {
		t.Errorf("%v", err)
	}
}

// TestOldDriver: one that does not say what it knows is asked for what all know, and tells reasons by flags.
func TestOldDriver(t *testing.T) {
	h, dir := fakeHost(t, "", reports)
	await(t, open(t, h, quick()), atLeast(1))
	starts, err := os.ReadFile(filepath.Join(dir, "starts"))
	if err != nil || !strings.HasPrefix(string(starts), "--query-gpu="+fieldList(coreSamples())+" ") {
		t.Errorf("%q %v", starts, err)
	}
}

// lines gives the samples of a program's lines.
func lines(t testing.TB, text string) []sut.Sample {
	t.Helper()
	f := &feed{numbers: numbers{"0000:19:00.0": 3}, news: make(chan struct{}, 1)}
	r := reader{feed: f}
	for line := range strings.Lines(text) {
		if err := r.line(line); err != nil {
			break
		}
	}
	samples, _ := f.take()
	return samples
}

// TestLines: values of every spelling of none are left out; reasons without a counter are told by their flags; units are heeded.
func TestLines(t *testing.T) {
	got := map[string]float64{}
	for _, s := range lines(t, `Warning: the persistence daemon is not running
pci.bus_id, power.draw.instant [W], power.draw [W], temperature.gpu, temperature.memory, clocks.current.sm [MHz], clocks.current.memory [MHz], utilization.gpu [%], utilization.memory [%], memory.used [MiB], pcie.link.gen.gpucurrent, pcie.link.width.current, total_energy_consumption [mJ], clocks_event_reasons_counters.sw_power_cap [us], clocks_event_reasons_counters.hw_thermal_slowdown [us], clocks_event_reasons.sw_power_cap, clocks_event_reasons.hw_thermal_slowdown, clocks_throttle_reasons.sync_boost
00000000:19:00.0, 701.2, 690, 61, N/A, 1980, 2619, 100, 37, 70123, 5, 16, 1234567, 1500000, [N/A], Active, Active, Not Active
00000000:AA:00.0, [Unknown Error], ERR!, [GPU requires reset], 255, 4294967295, [Not Supported], 101, -1, [N/A], 0, 255, [N/A], [N/A], [N/A], [N/A], [N/A], GPU is lost
`) {
		got[s.Series] = s.Value
	}
	want := map[string]float64{
		"gpu3.power_w": 701.2, "gpu3.temp_c": 61, "gpu3.clock_mhz": 1980, "gpu3.mem_clock_mhz": 2619, "gpu3.util_pct": 100, "gpu3.mem_util_pct": 37,
		"gpu3.vram_used_bytes": 70123 << 20, "gpu3.pcie_gts": 32, "gpu3.pcie_width": 16, "gpu3.energy_j": 1234.567, "gpu3.throttle_power_s": 1.5,
		"gpu3.throttle_hw_thermal_pct": 100, "gpu3.throttle_sync_boost_pct": 0, "gpu3.throttle_pct": 100,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestThrottleShare: a counter's growth over the time since the row before is the share; a counter that was set back gives none.
func TestThrottleShare(t *testing.T) {
	tab, err := parseTable([]byte("pci.bus_id, " + counterGroup + "sw_power_cap [us], " + counterGroup + "sync_boost [us]\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	before := held{1_000_000, map[string]float64{"power": 10, "sync_boost": 5}}
	out := &sut.Batch{AtUS: 3_000_000}
	after := tab.throttle(out, "g.", []string{"x", "10500000", "1000000"}, before)
	for _, s := range out.List {
		got[s.Series] = s.Value
	}
	want := map[string]float64{"g.throttle_power_s": 10.5, "g.throttle_sync_boost_s": 1, "g.throttle_power_pct": 25, "g.throttle_pct": 25}
	if diff := cmp.Diff(want, got); diff != "" || after.atUS != 3_000_000 || after.s["sync_boost"] != 1 {
		t.Errorf("%+v (-want +got)\n%s", after, diff)
	}
}

// TestReportsHaveOneTime: rows of one report share a time, and the next report has its own.
func TestReportsHaveOneTime(t *testing.T) {
	text := "pci.bus_id, power.draw [W]\n" + strings.Repeat("00000000:19:00.0, 5\n00000000:3B:00.0, 6\n", 2)
	samples := lines(t, text)
	if len(samples) != 4 || samples[0].AtUS != samples[1].AtUS || samples[2].AtUS != samples[3].AtUS || samples[2].AtUS < samples[0].AtUS {
		t.Errorf("%+v", samples)
	}
	series := map[string]int{}
	for _, s := range samples {
		series[s.Series]++
	}
	if want := map[string]int{"gpu3.power_w": 2, "gpu1.power_w": 2}; !maps.Equal(series, want) {
		t.Errorf("%v", series)
	}
}

func FuzzLines(f *testing.F) {
	f.Add("pci.bus_id, power.draw [W]\n00000000:19:00.0, 5\n\x1b[4mx\x1b[0m\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range lines(t, text) {
			if !(s.Value >= 0 && s.Value < 1e19) || !strings.HasPrefix(s.Series, "gpu") {
				t.Errorf("%+v", s)
			}
		}
	})
}

func FuzzFields(f *testing.F) {
	f.Add(help)
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range parseFields(text) {
			if name == "" || strings.ContainsAny(name, ", =\"") {
				t.Errorf("field %q", name)
			}
		}
	})
}

// BenchmarkReport reads a second's report of eight GPUs with every field.
func BenchmarkReport(b *testing.B) {
	fields := wantedSamples()
	header := strings.Join(fields, ", ")
	row := strings.Repeat(", 1", len(fields)-1)
	r := reader{feed: &feed{numbers: numbers{}, news: make(chan struct{}, 1)}}
	if err := r.line(header); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for i := range 8 {
			if err := r.line("00000000:0" + strconv.Itoa(i) + ":00.0" + row); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := r.feed.take(); err != nil {
			b.Fatal(err)
		}
	}
}

// TestSampleOfCapture: a capture gives the one answer that it holds.
func TestSampleOfCapture(t *testing.T) {
	for name, c := range map[string]struct {
		out  host.Output
		err  error
		want int
	}{
		"answer":  {out: host.Output{Stdout: []byte("pci.bus_id, power.draw [W]\n00000000:19:00.0, 5.5 W\n")}, want: 1},
		"nothing": {out: host.Output{}},
		"gone":    {err: host.ErrNotFound},
	} {
		s := Sampler{host: host.Host{Exec: func(context.Context, ...string) (host.Output, error) { return c.out, c.err }}}
		if got, err := s.Sample(t.Context()); len(got) != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}
