package gauges

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"

	"assay/probes"
)

// exposed is what Prometheus would read, checked for the conventions of names, units and help texts.
func exposed(t *testing.T, parts ...prometheus.Collector) string {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	for _, p := range parts {
		reg.MustRegister(p)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&out, f); err != nil {
			t.Fatal(err)
		}
	}
	problems, err := promlint.New(bytes.NewReader(out.Bytes())).Lint()
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	return out.String()
}

func has(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if !strings.Contains("\n"+text, "\n"+l+"\n") {
			t.Errorf("missing %s", l)
		}
	}
}

func known[T any](v T) probes.Fact[T] { return probes.Fact[T]{Value: v, Source: "test"} }

func TestMachine(t *testing.T) {
	var s probes.SUT
	s.ProbedAtUS = 1_700_000_000_500_000
	s.System.Vendor, s.System.Product, s.OS.Kernel = known("Dell \"Inc.\""), known("PowerEdge\x1b XE9680\xff"), known("6.8.0")
	s.CPU.Sockets, s.CPU.CoresPerSocket, s.CPU.ThreadsPerCore, s.Memory.Bytes, s.Power.ProvisionedW = known(2), known(40), known(2), known[int64](2<<40), known(9900.0)
	a := probes.Accelerator{Name: known("MI300X"), Vendor: known("AMD"), VRAMBytes: known[int64](206141652992), PowerCapW: known(750.0), PowerDefaultW: known(750.0), ECC: known(true)}
	a.PCI.Address, a.Link.Width, a.Link.GTS = known("0000:1b:00.0"), known(16), known(32.0)
	a.Link.MaxWidth, a.Link.MaxGTS, a.Partition.Count, a.XGMIPeers, a.NVLinks, a.Persistence = known(16), known(32.0), known(1), known(7), known(18), known(true)
	b := a
	b.PCI.Address, b.ECC, b.PowerCapW = known("0000:3d:00.0"), known(false), probes.Fact[float64]{Unknown: "not read"}
	s.Accelerators.Items = []probes.Accelerator{a, b}
	for i := range 200 {
		s.Network.Interfaces.Items = append(s.Network.Interfaces.Items, probes.NIC{Name: known(fmt.Sprintf("eth%d", i/2)), Up: known(true), SpeedMbps: known(400_000)})
	}
	s.Storage.Filesystems.Items = []probes.Filesystem{{Mount: known("/"), Bytes: known[int64](100), FreeBytes: known[int64](40)}}
	text := exposed(t, Machine{s, []probes.Check{{ID: "idle", State: probes.CheckOK}, {ID: "power_cap", State: probes.CheckFail}, {ID: "idle", State: probes.CheckWarn}}})
	has(t, text,
		`assay_probe_timestamp_seconds 1.7000000005e+09`,
		`assay_machine_info{bios="",cpu="",distro="",kernel="6.8.0",product="PowerEdge\\x1b XE9680\\xff",vendor="Dell \"Inc.\"",virtualization=""} 1`,
		`assay_cpu_sockets 2`, `assay_memory_bytes 2.199023255552e+12`, `assay_accelerators 2`,
		`assay_accelerator_info{arch="",driver="",gpu="1",name="MI300X",pci="0000:3d:00.0",vbios="",vendor="AMD"} 1`,
		`assay_accelerator_power_cap_watts{gpu="0"} 750`, `assay_accelerator_memory_bytes{gpu="1"} 2.06141652992e+11`,
		`assay_accelerator_link_width_lanes{gpu="0"} 16`, `assay_accelerator_link_transfers_per_second{gpu="0"} 3.2e+10`,
		`assay_accelerator_ecc_enabled{gpu="0"} 1`, `assay_accelerator_ecc_enabled{gpu="1"} 0`,
		`assay_network_speed_bytes_per_second{nic="eth3"} 5e+10`, `assay_filesystem_free_bytes{mount="/"} 40`,
		`assay_check{check="power_cap",state="fail"} 1`, `assay_check{check="power_cap",state="ok"} 0`, `assay_check{check="idle",state="ok"} 1`)
	if strings.Contains(text, `assay_accelerator_power_cap_watts{gpu="1"}`) || strings.Contains(text, "assay_memory_installed_bytes") {
		t.Error("what is not known has a value")
	}
	documented(t, text)
	if n := strings.Count(text, "assay_network_up{"); n != most/2 {
		t.Errorf("%d interfaces have series", n)
	}
}

// documented fails for a family that docs/api.md does not name.
func documented(t *testing.T, text string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); f[1] == "TYPE" && !bytes.Contains(page, []byte("`"+f[2]+"`")) {
			t.Errorf("docs/api.md does not name %s", f[2])
		}
	}
}

func TestMachineThatTellsNothing(t *testing.T) {
	var s probes.SUT
	s.Accelerators.Unknown = "timed out"
	if text := exposed(t, Machine{SUT: s}); strings.Contains(text, "assay_accelerators") || !strings.Contains(text, "assay_machine_info") {
		t.Error(text)
	}
}

// TestLive has a sample of every kind of series.
func TestLive(t *testing.T) {
	const now = int64(1e15)
	var samples []probes.Sample
	for _, k := range probes.SeriesTable() {
		for _, n := range []string{"0", "1"} {
			name := strings.NewReplacer("N.", n+".", "NAME", "x"+n, "REASON", "thermal").Replace(k.Name)
			samples = append(samples, probes.Sample{AtUS: now - 1e6, Series: name, Value: 50})
		}
	}
	samples = append(samples,
		probes.Sample{AtUS: now, Series: "engine.running", Value: 12}, probes.Sample{AtUS: now, Series: "engine.generation_tokens", Value: 900}, probes.Sample{AtUS: now, Series: "engine.kv_usage", Value: 0.25},
		probes.Sample{AtUS: now - 60e6, Series: "gpu2.power_w", Value: 700}, probes.Sample{AtUS: now, Series: "gpu3.power_w", Value: math.NaN()},
		probes.Sample{AtUS: now, Series: "someone.else_w", Value: 1}, probes.Sample{AtUS: now, Series: "engine.{}", Value: 1})
	text := exposed(t, Live{samples, now})
	has(t, text, `assay_gpu_power_watts{gpu="1"} 50`, `assay_gpu_energy_joules_total{gpu="0"} 50`, `assay_gpu_temp_celsius{gpu="0"} 50`, `assay_gpu_clock_hertz{gpu="0"} 5e+07`,
		`assay_gpu_util_ratio{gpu="0"} 0.5`, `assay_gpu_vram_used_bytes{gpu="0"} 50`, `assay_gpu_throttle_thermal_seconds_total{gpu="0"} 50`, `assay_gpu_throttle_thermal_ratio{gpu="0"} 0.5`,
		`assay_gpu_pcie_replays_total{gpu="0"} 50`, `assay_gpu_pcie_bytes_per_second{gpu="0"} 6.25e+09`, `assay_host_cpu_ratio 0.5`, `assay_host_wall_watts 50`, `assay_cpu_energy_joules_total{cpu="1"} 50`,
		`assay_disk_read_bytes_per_second{disk="x0"} 50`, `assay_nic_rx_bytes_per_second{nic="x1"} 50`, `assay_engine_running 12`, `assay_engine_generation_tokens_total 900`, `assay_engine_kv_usage_ratio 0.25`,
		`assay_server_running{server="1"} 50`, `assay_server_generation_tokens_total{server="0"} 50`)
	for _, gone := range []string{`gpu="2"`, `gpu="3"`, "someone", "{}"} {
		if strings.Contains(text, gone) {
			t.Errorf("%s is told", gone)
		}
	}
}
