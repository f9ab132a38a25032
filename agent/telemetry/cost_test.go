package telemetry

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/containers"
	"assay/probes"
)

// BenchmarkTelemetry is what a second of sampling costs: a tick of every source of this host and of eight AMD GPUs, whose files lie on a
// disk here, and of an engine that tells 60 KB of metrics. The client's and the server's side of that are both counted.
func BenchmarkTelemetry(b *testing.B) {
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, vllmMetrics()) }))
	defer engine.Close()
	preset, err := containers.PresetNamed("vllm")
	if err != nil {
		b.Fatal(err)
	}
	host, done, err := probes.FromCapture(b.Context(), eightGPUs(b))
	if err != nil {
		b.Fatal(err)
	}
	defer done()
	all := append(probes.Samplers(probes.Live()), Engine{BaseURLs: []string{engine.URL}, Preset: preset})
	for _, s := range probes.Samplers(host) {
		if s.Name() == "amd" {
			all = append(all, s)
		}
	}
	r, err := Start(b.Context(), b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	tick := func() {
		for _, s := range all {
			<-r.once(b.Context(), s, time.Minute)
		}
	}
	tick() // files are found, rates have a beginning
	r.Mark(b.Context())
	before := cpuTime(b)
	for b.Loop() {
		tick()
	}
	spent := cpuTime(b) - before
	n, err := float64(b.N), error(nil)
	b.ReportMetric(1000*spent.Seconds()/n, "cpu-ms/tick")
	b.ReportMetric(100*spent.Seconds()/n, "%core")
	b.ReportMetric(float64(len(r.Samples()))/n, "series")
	lost, err := r.Close()
	if err != nil || lost["amd"] != "" || lost["engine"] != "" || lost["host"] != "" {
		b.Errorf("%v, %v", lost, err)
	}
}

// cpuTime is what this process has used, in user and in kernel mode.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// eightGPUs writes the files of eight MI300X: what the capture in the repository has of one, with a metrics table of version 1.7.
func eightGPUs(b *testing.B) string {
	const one = "../../probes/testdata/hosts/bare-metal-mi300x/sys/devices/pci0000:10/0000:10:01.0/0000:1b:00.0"
	dir := b.TempDir()
	table := []byte(strings.Repeat("\xff", 2208))
	binary.LittleEndian.PutUint16(table, uint16(len(table)))
	table[2], table[3] = 1, 7
	for at, v := range map[int]uint16{4: 71, 6: 58, 8: 60, 10: 702, 12: 99, 14: 44, 68: 16, 70: 320, 336: 1300} {
		binary.LittleEndian.PutUint16(table[at:], v)
	}
	for at, v := range map[int]uint64{24: 1 << 50, 32: 1 << 60, 112: 0} {
		binary.LittleEndian.PutUint64(table[at:], v)
	}
	for at := 40; at < 64; at += 4 {
		binary.LittleEndian.PutUint32(table[at:], 1_000_000)
	}
	for i := range 8 {
		binary.LittleEndian.PutUint16(table[296+2*i:], uint16(2000+i))
	}
	must := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(dir, "sys/bus/pci/devices"), 0o755))
	for i := range 8 {
		address := fmt.Sprintf("0000:%x:00.0", 0x1b+0x10*i)
		device := fmt.Sprintf("devices/pci0000:%[1]x0/0000:%[1]x0:01.0/%[2]s", i+1, address)
		must(os.CopyFS(filepath.Join(dir, "sys", device), os.DirFS(one)))
		must(os.WriteFile(filepath.Join(dir, "sys", device, "gpu_metrics"), table, 0o644))
		must(os.Symlink("../../../"+device, filepath.Join(dir, "sys/bus/pci/devices", address)))
	}
	return dir
}

// vllmMetrics is what vLLM tells of itself, with histograms of about the usual length.
func vllmMetrics() string {
	var b strings.Builder
	for _, name := range []string{"num_requests_running", "num_requests_waiting", "kv_cache_usage_perc", "prompt_tokens_total", "generation_tokens_total",
		"prefix_cache_queries_total", "prefix_cache_hits_total", "num_preemptions_total"} {
		fmt.Fprintf(&b, "# TYPE vllm:%[1]s gauge\nvllm:%[1]s{engine=\"0\",model_name=\"m\"} 17.0\n", name)
	}
	for h := range 15 {
		for bucket := range 40 {
			fmt.Fprintf(&b, "vllm:histogram_%d_seconds_bucket{engine=\"0\",le=\"%d.0\",model_name=\"deepseek-ai/DeepSeek-V4.1-Flash\"} 12345.0\n", h, bucket)
		}
	}
	return b.String()
}
