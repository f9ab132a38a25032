package usage

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"assay/probes/host"
	"assay/probes/sut"
)

// tree is a machine whose files a test writes.
type tree struct {
	t   *testing.T
	dir string
}

func newTree(t *testing.T) tree {
	m := tree{t, t.TempDir()}
	m.put("proc/version", "Linux")
	return m
}

func (m tree) put(name, text string) {
	m.t.Helper()
	file := filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		m.t.Fatal(err)
	}
}

func (m tree) host() host.Host {
	m.t.Helper()
	h, done, err := host.FromCapture(m.t.Context(), m.dir)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		if err := done(); err != nil {
			m.t.Error(err)
		}
	})
	return h
}

type sampler interface {
	Sample(context.Context) ([]sut.Sample, error)
}

// sampled gives what a sampler says now.
func sampled(t *testing.T, s sampler) map[string]float64 {
	t.Helper()
	list, err := s.Sample(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, v := range list {
		if _, twice := out[v.Series]; twice {
			t.Errorf("%s twice", v.Series)
		}
		out[v.Series] = v.Value
	}
	return out
}

func near(t *testing.T, want, got map[string]float64) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-9, 0)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestHost(t *testing.T) {
	m := newTree(t)
	m.put("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 400 kB\nSwapTotal: 100 kB\nSwapFree: 90 kB\n")
	m.put("proc/stat", "cpu  100 0 100 700 100 0 0 0 50 0\ncpu0 1 2 3\n")
	s := NewHost(m.host())
	near(t, map[string]float64{"host.mem_used_bytes": 600 * 1024, "host.swap_used_bytes": 10 * 1024}, sampled(t, s))
	m.put("proc/stat", "cpu  160 0 115 715 110 0 0 0 90 0\n") // of 100 ticks 75 busy, 10 in wait for drives
	m.put("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: x\n")
	near(t, map[string]float64{"host.cpu_pct": 75, "host.iowait_pct": 10}, sampled(t, s))
	m.put("proc/stat", "cpu  260 0 115 715 109 0 0 0 90 0\n") // iowait that the kernel took back
	near(t, map[string]float64{"host.cpu_pct": 100 * 100.0 / 99, "host.iowait_pct": 0}, sampled(t, s))
	near(t, map[string]float64{}, sampled(t, s)) // no tick went by
	for _, bad := range []string{"", "cpu", "cpu 1 2 3", "cpu 1 2 3 x 5", "cpu -1 2 3 4 5", "intr 1 2 3 4 5 6"} {
		m.put("proc/stat", bad)
		near(t, map[string]float64{}, sampled(t, s))
	}
	empty := newTree(t)
	empty.put("proc/meminfo", "")
	if _, err := NewHost(empty.host()).Sample(t.Context()); err == nil {
		t.Error("no /proc/stat, and no error")
	}
}

func TestThroughput(t *testing.T) {
	m := newTree(t)
	m.put("proc/diskstats", " 259 0 nvme0n1 1 0 100 0 1 0 200 0 0 1000 9\n 259 1 nvme0n1p1 1 0 100 0 1 0 200 0 0 1000 9\n 253 0 dm-0 1 0 100 0 1 0 200 0 0 1000 9\n")
	m.put("proc/net/dev", "h\nh\n  eth0: 1000 0 0 0 0 0 0 0 500 0 0 0 0 0 0 0\n docker0: 9 0 0 0 0 0 0 0 9 0 0 0 0 0 0 0\nenx0c42a1d2e3f4: 0 0 0 0 0 0 0 0 0 0 0 0\n")
	m.put("sys/block/nvme0n1/device/model", "disk")
	m.put("sys/block/dm-0/dm/name", "vg-lv")
	m.put("sys/class/net/eth0/device/vendor", "0x1")
	m.put("sys/class/net/enx0c42a1d2e3f4/device/vendor", "0x1")
	m.put("sys/class/net/docker0/bridge/x", "")
	h := m.host()
	synctest.Test(t, func(t *testing.T) {
		s := NewThroughput(h)
		near(t, map[string]float64{}, sampled(t, s))
		time.Sleep(50 * time.Millisecond) // of the bubble
		near(t, map[string]float64{}, sampled(t, s))
		time.Sleep(1950 * time.Millisecond)
		m.put("proc/diskstats", " 259 0 nvme0n1 1 0 300 0 1 0 200 0 0 2500 9\n 259 1 nvme0n1p1 1 0 900 0 1 0 900 0 0 1000 9\n 253 0 dm-0 1 0 900 0 1 0 900 0 0 9000 9\n")
		m.put("proc/net/dev", "h\nh\n eth0: 10 0 0 0 0 0 0 0 900 0 0 0 0 0 0 0\n docker0: 99 0 0 0 0 0 0 0 99 0 0 0 0 0 0 0\nenx0c42a1d2e3f4: 50 0 0 0 0 0 0 0 0 0 0 0\n")
		got := sampled(t, s)
		for _, name := range slices.Sorted(maps.Keys(got)) {
			if strings.Contains(name, "0c42") {
				t.Errorf("%s names a MAC address", name)
			}
			if strings.HasPrefix(name, "nic.enx") {
				delete(got, name)
			}
		}
		near(t, map[string]float64{ // eth0 began to count anew and has no rate of what it received
			"disk.nvme0n1.read_bytes_per_s": 51200, "disk.nvme0n1.write_bytes_per_s": 0, "disk.nvme0n1.busy_pct": 75,
			"host.disk_read_bytes_per_s": 51200, "host.disk_write_bytes_per_s": 0, "nic.eth0.tx_bytes_per_s": 200, "host.net_tx_bytes_per_s": 200,
		}, got)
	})
}

// TestThroughputOfMultipath: a drive of two paths is one, whether the kernel counts at its paths or at the drive too.
func TestThroughputOfMultipath(t *testing.T) {
	for name, head := range map[string]string{"at its paths": " 259 1 nvme0n1 0 0 0 0 0 0 0 0 0 0 0\n", "at both": " 259 1 nvme0n1 1 0 500 0 1 0 300 0 0 1500 9\n"} {
		t.Run(name, func(t *testing.T) {
			m := newTree(t)
			m.put("proc/net/dev", "")
			m.put("proc/diskstats", " 0 0 nvme0c0n1 0 0 100 0 0 0 100 0 0 0 0\n 0 0 nvme0c1n1 0 0 0 0 0 0 0 0 0 0 0\n 259 1 nvme0n1 0 0 0 0 0 0 0 0 0 0 0\n")
			for _, dev := range []string{"nvme0n1", "nvme0c0n1", "nvme0c1n1"} {
				m.put("sys/block/"+dev+"/device/model", "disk")
			}
			h := m.host()
			synctest.Test(t, func(t *testing.T) {
				s := NewThroughput(h)
				near(t, map[string]float64{}, sampled(t, s))
				time.Sleep(2 * time.Second)
				m.put("proc/diskstats", " 0 0 nvme0c0n1 1 0 400 0 1 0 300 0 0 1500 9\n 0 0 nvme0c1n1 1 0 100 0 1 0 0 0 0 1000 9\n"+head)
				got := sampled(t, s)
				if got["host.disk_read_bytes_per_s"] != 400*512/2 || got["disk.nvme0n1.busy_pct"] != 75 || len(got) != 5 {
					t.Errorf("%v", got)
				}
			})
		})
	}
}

// TestPackages: two packages of two dies and their memory; one counter turns over, another begins anew.
func TestPackages(t *testing.T) {
	m := newTree(t)
	zone := func(name, label, uj string) {
		m.put("sys/class/powercap/"+name+"/name", label)
		m.put("sys/class/powercap/"+name+"/max_energy_range_uj", "262143328850\n")
		m.put("sys/class/powercap/"+name+"/energy_uj", uj)
	}
	zone("intel-rapl:0", "package-0-die-0", "262143000000")
	zone("intel-rapl:0:0", "core", "5")
	zone("intel-rapl:0:1", "dram", "1000000")
	zone("intel-rapl:1", "package-0-die-1", "2000000")
	zone("intel-rapl:2", "package-1", "3000000")
	zone("intel-rapl:3", "psys", "4000000")
	zone("intel-rapl-mmio:0", "package-0", "5000000")
	h := m.host()
	synctest.Test(t, func(t *testing.T) {
		s, ok := NewPackages(h)
		if !ok {
			t.Fatal("no packages")
		}
		near(t, map[string]float64{"cpu0.energy_j": 262145, "cpu1.energy_j": 3, "dram0.energy_j": 1}, sampled(t, s))
		time.Sleep(2 * time.Second)
		m.put("sys/class/powercap/intel-rapl:0/energy_uj", "171150")      // + 0.5 J over the end of the range
		m.put("sys/class/powercap/intel-rapl:1/energy_uj", "202000000")   // + 200 J
		m.put("sys/class/powercap/intel-rapl:0:1/energy_uj", "21000000")  // + 20 J
		m.put("sys/class/powercap/intel-rapl:2/energy_uj", "303000000\n") // + 300 J
		near(t, map[string]float64{"cpu0.energy_j": 262345.5, "cpu1.energy_j": 303, "dram0.energy_j": 21,
			"cpu0.power_w": 100.25, "cpu1.power_w": 150, "dram0.power_w": 10}, sampled(t, s))
	})
	m.put("sys/class/powercap/intel-rapl:2/energy_uj", "")
	s, _ := NewPackages(h)
	if _, err := s.Sample(t.Context()); err == nil || !strings.Contains(err.Error(), "intel-rapl:2/energy_uj") {
		t.Errorf("an empty counter: %v", err)
	}
	if _, ok := NewPackages(newTree(t).host()); ok {
		t.Error("packages of a machine that counts none")
	}
}

// TestZone: a counter that went round is told from one that began anew.
func TestZone(t *testing.T) {
	z := zone{rangeJ: 1000}
	for _, c := range []struct{ raw, want float64 }{{900, 900}, {100, 1100}, {400, 1400}, {5, 1005}} {
		if got := z.total(c.raw); got != c.want {
			t.Errorf("%g J stands for %g J, want %g J", c.raw, got, c.want)
		}
	}
}

// TestPackagesOfACapture reads what a public capture holds: its second package has an odd number, and the parts of a package are left out.
func TestPackagesOfACapture(t *testing.T) {
	const dir = "../../../shared/fixtures/system/procfs-powercap"
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no captures beside the repository")
	}
	s, ok := NewPackages(tree{t, dir}.host())
	if !ok {
		t.Fatal("no packages")
	}
	near(t, map[string]float64{"cpu0.energy_j": 240422.366267, "cpu10.energy_j": 240422.366267}, sampled(t, s))
}

func TestSensors(t *testing.T) {
	m := newTree(t)
	put := func(name, text string) { m.put("sys/class/hwmon/"+name, text) }
	put("hwmon0/name", "nvme\n")
	put("hwmon0/temp1_input", "40000")
	put("hwmon1/name", "coretemp")
	put("hwmon1/temp1_label", "Package id 1")
	put("hwmon1/temp1_input", "61000")
	put("hwmon1/temp2_label", "Core 0")
	put("hwmon1/temp2_input", "55000")
	put("hwmon2/name", "power_meter")
	put("hwmon2/power1_average", "1840000000")
	put("hwmon3/name", "k10temp")
	put("hwmon3/temp1_input", "48125")
	s, ok := NewSensors(m.host())
	if !ok {
		t.Fatal("no sensors")
	}
	near(t, map[string]float64{"cpu1.temp_c": 61, "host.wall_w": 1840, "cpu0.temp_c": 48.125}, sampled(t, s))
	put("hwmon1/temp1_input", "0")
	put("hwmon3/temp1_input", "N/A")
	near(t, map[string]float64{"host.wall_w": 1840}, sampled(t, s))
	for _, gone := range []string{"hwmon1/temp1_input", "hwmon2/power1_average", "hwmon3/temp1_input"} {
		if err := os.Remove(filepath.Join(m.dir, "sys/class/hwmon", gone)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Sample(t.Context()); err == nil {
		t.Error("no sensor can be read, and no error")
	}
	put("hwmon4/name", "power_meter")
	put("hwmon4/power1_average", "900000000")
	put("hwmon3/temp1_input", "50000")
	put("hwmon2/power1_average", "1840000000")
	s, _ = NewSensors(m.host())
	near(t, map[string]float64{"cpu0.temp_c": 50}, sampled(t, s)) // two meters, and nothing tells of what they are
	if _, ok := NewSensors(newTree(t).host()); ok {
		t.Error("sensors of a machine that has none")
	}
}

// FuzzProc: what the kernel's tables could hold gives no rate below 0, and no share that cannot be.
func FuzzProc(f *testing.F) {
	f.Add("cpu  1 2 3 4 5 6 7 8", "259 0 sda 1 0 100 0 1 0 200 0 0 1000 9")
	f.Add("eth0: 1000 0 0 0 0 0 0 0 500 0 0", "MemTotal: 5 kB")
	f.Fuzz(func(t *testing.T, before, after string) {
		s := NewThroughput(host.Host{})
		s.physical["/sys/block/sda"], s.physical["/sys/class/net/eth0"] = true, true
		for i, text := range []string{before, after} {
			counts := map[string]float64{}
			s.drives(text, counts)
			s.interfaces(text, counts)
			out := &sut.Batch{AtUS: int64(i) * 1e6}
			s.meter.rates(counts, out)
			for _, v := range out.List {
				if !(v.Value >= 0) {
					t.Errorf("%s %g", v.Series, v.Value)
				}
			}
			if c, ok := parseTicks(text); ok && c.busy > c.total {
				t.Errorf("busy %g of %g", c.busy, c.total)
			}
			kibibytes(text)
		}
	})
}
