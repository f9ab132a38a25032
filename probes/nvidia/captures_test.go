package nvidia

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"assay/probes/sut"
)

// captured gives a file of the public captures that lie beside a checkout of the project; tests that need it are skipped without it.
func captured(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../../shared/fixtures", name))
	if err != nil {
		t.Skipf("no public captures here: %v", err)
	}
	return string(b)
}

const (
	h100   = "nvidia/h100-80gb-hbm3-drv590.48.01/"
	mig    = "nvidia/h100-mig-drv590.48.01/"
	l40s   = "nvidia/l40s-drv595.80/"
	brake  = "nvidia/h100-sxm5-x8-drv535.161.08-powerbrake/"
	capped = "nvidia/rtx4090-x8-drv535.154.05-swpowercap/"
	xmls   = "nvidia/xml-telegraf/"
)

// told gives what a record says of its first GPU, short enough to stand in a table.
func told(a sut.Accelerator) string {
	clocks, memory := a.Clocks, a.RAS
	counters := []string{}
	for _, c := range a.ThrottleCounters.Items {
		if c.Ticks.Value > 0 {
			counters = append(counters, fmt.Sprintf("%s %d", c.Reason.Value, c.Ticks.Value))
		}
	}
	return strings.Join([]string{
		fmt.Sprintf("%d MiB used %d", a.VRAMBytes.Value>>20, a.VRAMUsedBytes.Value>>20), fmt.Sprintf("%g/%g/%g/%g W, draws %g", a.PowerMinW.Value, a.PowerCapW.Value, a.PowerDefaultW.Value, a.PowerMaxW.Value, a.PowerW.Value),
		fmt.Sprintf("%g MHz of %g, memory %g of %g", clocks.GfxMHz.Value, clocks.GfxMaxMHz.Value, clocks.MemMHz.Value, clocks.MemMaxMHz.Value), fmt.Sprintf("%g C", a.Temperatures.EdgeC.Value),
		fmt.Sprintf("link %g x%d of %g x%d, replays %d", a.Link.GTS.Value, a.Link.Width.Value, a.Link.MaxGTS.Value, a.Link.MaxWidth.Value, a.LinkErrors.Replays.Value),
		fmt.Sprintf("errors %d/%d bad %d %s", memory.Correctable.Value, memory.Uncorrectable.Value, memory.BadPages.Value, memory.RecoveryAction.Value),
		fmt.Sprintf("%s, %s, %s", a.ComputeMode.Value, a.Virtualization.Value, a.Fabric.State.Value), fmt.Sprintf("%v %v", a.Throttle.Items, counters), fmt.Sprintf("%d processes", len(a.Processes.Items)),
	}, "; ")
}

// TestCapturedRecords reads records of drivers from 515 to 595, in XML and in text, and compares what they say of their first GPU.
func TestCapturedRecords(t *testing.T) {
	for file, want := range map[string]struct {
		gpus int
		told string
	}{
		xmls + "a10g.xml":                 {1, "23028 MiB used 22; 100/300/300/300 W, draws 25.58; 210 MHz of 1710, memory 405 of 6251; 17 C; link 2.5 x8 of 16 x16, replays 0; errors 0/0 bad 0 ; default, pass-through, ; [] []; 1 processes"},
		xmls + "tesla-t4.xml":             {1, "15360 MiB used 1032; 60/70/70/70 W, draws 26.78; 585 MHz of 1590, memory 5000 of 5001; 40 C; link 8 x8 of 8 x16, replays 0; errors 0/0 bad 0 ; default, pass-through, ; [] []; 2 processes"},
		xmls + "a100-sxm4-v12.xml":        {1, "81920 MiB used 50; 100/500/500/500 W, draws 67.03; 1275 MHz of 1410, memory 1593 of 1593; 27 C; link 16 x16 of 16 x16, replays 0; errors 0/0 bad 0 none; default, none, ; [] []; 0 processes"},
		xmls + "rtx-4000-sff-ada-v13.xml": {1, "20475 MiB used 3534; 30/70/70/70 W, draws 8.44; 210 MHz of 3105, memory 405 of 7001; 38 C; link 2.5 x16 of 16 x16, replays 0; errors 0/0 bad 0 none; default, none, ; [] [power 4251825415]; 4 processes"},
		h100 + "idle-q.txt":               {1, "81559 MiB used 0; 200/700/700/700 W, draws 69.62; 345 MHz of 1980, memory 2619 of 2619; 41 C; link 32 x16 of 32 x16, replays 9; errors 0/0 bad 0 none; default, pass-through, completed; [] []; 0 processes"},
		h100 + "load-q.txt":               {1, "81559 MiB used 19818; 200/700/700/700 W, draws 588.39; 1980 MHz of 1980, memory 2619 of 2619; 59 C; link 32 x16 of 32 x16, replays 9; errors 0/0 bad 0 none; default, pass-through, completed; [] []; 3 processes"},
		mig + "load-q.txt":                {1, "81559 MiB used 11125; 200/700/700/700 W, draws 444.72; 1980 MHz of 1980, memory 2619 of 2619; 53 C; link 32 x16 of 32 x16, replays 9; errors 0/0 bad 0 none; default, pass-through, completed; [] []; 3 processes"},
		l40s + "load-q.txt":               {1, "46068 MiB used 1235; 100/350/350/350 W, draws 110.01; 2520 MHz of 2520, memory 9001 of 9001; 54 C; link 16 x16 of 16 x16, replays 0; errors 0/0 bad 0 none; default, pass-through, ; [] [power 204642816]; 2 processes"},
		brake + "q.txt":                   {8, "81559 MiB used 0; 200/700/700/700 W, draws 67.74; 86 MHz of 1980, memory 2619 of 2619; 29 C; link 32 x16 of 32 x16, replays 67; errors 0/0 bad 0 none; default, none, completed; [hw_slowdown hw_power_brake_slowdown] []; 0 processes"},
		capped + "q.txt":                  {8, ""},
	} {
		t.Run(file, func(t *testing.T) {
			parse := parseText
			if strings.HasSuffix(file, ".xml") {
				parse = parseXML
			}
			log, err := parse([]byte(captured(t, file)))
			if err != nil {
				t.Fatal(err)
			}
			if got := len(log.all("gpu")); got != want.gpus {
				t.Errorf("%d GPUs", got)
			}
			if diff := cmp.Diff(want.told, told(first(log))); diff != "" && want.told != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestCapturedMatrices: single GPUs have no pairs, in the matrix with its escapes.
func TestCapturedMatrices(t *testing.T) {
	for _, dir := range []string{h100, mig, l40s} {
		m := parseTopology(captured(t, dir+"topo-m.txt"))
		if len(m.rows) != 1 || len(m.pairs([]string{"a"})) != 0 || m.linked() {
			t.Errorf("%s: %+v", dir, m)
		}
	}
}

func TestCapturedLinks(t *testing.T) {
	for file, want := range map[string]struct {
		gpus, links int
		gbps        float64
	}{"nvidia/a100-sxm4-x8/nvlink-s.txt": {8, 12, 200}, h100 + "nvlink-s.txt": {1, 18, 26.562 * 8}, l40s + "nvlink-s.txt": {1, 0, 0}, mig + "nvlink-s.txt": {1, 0, 0}} {
		list := parseNVLinks(captured(t, file))
		if len(list) != want.gpus {
			t.Fatalf("%s: %d GPUs", file, len(list))
		}
		for _, d := range list {
			if d.up.Value != want.links || d.gbps.Value != want.gbps || d.up.IsKnown() == (strings.HasPrefix(file, mig)) {
				t.Errorf("%s: %+v", file, d)
			}
		}
	}
}

// fromLspci makes the bus of a live machine from a list of its devices.
func fromLspci(text string) map[string]string {
	classes := map[string]string{"3D controller": "0x030200", "VGA compatible controller": "0x030000", "Bridge": "0x068000", "PCI bridge": "0x060400"}
	device := regexp.MustCompile(`^((?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) ([A-Za-z0-9 -]+?)(?: \[[0-9a-f]{4}\])?: (.*)$`)
	id := regexp.MustCompile(`(?:Device |10de:)([0-9a-f]{4})\b`)
	files := map[string]string{}
	for line := range strings.Lines(text) {
		m := device.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		address := m[1]
		if len(address) == 7 {
			address = "0000:" + address
		}
		at := "sys/bus/pci/devices/" + address + "/"
		files[at+"class"], files[at+"vendor"] = classes[m[2]], "0x1234"
		if strings.Contains(m[3], "NVIDIA") {
			files[at+"vendor"] = "0x10de"
		}
		if n := id.FindStringSubmatch(m[3]); n != nil {
			files[at+"device"] = "0x" + n[1]
		}
	}
	return files
}

// TestCapturedBuses: GPUs and switches are found on real buses, where domains have numbers of their own; without the tool they are there.
func TestCapturedBuses(t *testing.T) {
	for file, want := range map[string]struct {
		gpus, switches int
		first, id      string
	}{
		"nvidia/a100-sxm4-x8/lspci-nn.txt":        {8, 6, "0001:00:00.0", "0x20b2"},
		"nvidia/gb200/lspci.txt":                  {4, 0, "0008:01:00.0", "0x2941"},
		"system/xe9680-h100-x8/lspci-trimmed.txt": {8, 4, "0000:19:00.0", "0x2330"},
	} {
		h := machine(t, fromLspci(captured(t, file)), nil)
		s := probe(t, h)
		if len(s.Accelerators.Items) != want.gpus || switches(h).Value != want.switches {
			t.Fatalf("%s: %d GPUs, %d switches", file, len(s.Accelerators.Items), switches(h).Value)
		}
		if a := s.Accelerators.Items[0]; a.PCI.Address.Value != want.first || a.PCI.DeviceID.Value != want.id || !strings.Contains(a.VRAMBytes.Unknown, "exits 6") {
			t.Errorf("%s: %+v %+v", file, a.PCI, a.VRAMBytes)
		}
	}
}

// fromTable makes a query's answer from the tool's table, which has two lines of cells for a GPU.
func fromTable(text string) string {
	head := regexp.MustCompile(`^\|\s+\d+\s+(.+?)\s+(On|Off)\s*\|\s*([0-9A-F]{8}:[0-9A-F:.]+)`)
	body := regexp.MustCompile(`^\|\s*(\S+)\s+(\d+)C\s+\S+\s+(\S+)\s*/\s*(\S+)\s+\|\s+(\d+)MiB\s*/\s*(\d+)MiB \|\s+(\S+)\s+(.+?) \|`)
	out := "pci.bus_id, name, persistence_mode, fan.speed [%], temperature.gpu, power.draw [W], power.limit [W], memory.used [MiB], memory.total [MiB], utilization.gpu [%], compute_mode\n"
	var name []string
	for line := range strings.Lines(text) {
		if m := head.FindStringSubmatch(line); m != nil {
			name = m
		} else if m := body.FindStringSubmatch(line); m != nil && name != nil {
			persistence := map[string]string{"On": "Enabled", "Off": "Disabled"}[name[2]]
			mode := strings.Replace(strings.TrimSpace(m[8]), "E. Process", "Exclusive_Process", 1)
			out += strings.Join([]string{name[3], name[1], persistence, m[1], m[2], strings.TrimSuffix(m[3], "W"), strings.TrimSuffix(m[4], "W"), m[5], m[6], strings.TrimSuffix(m[7], "%"), mode}, ", ") + "\n"
			name = nil
		}
	}
	return out
}

// TestCapturedTables: a fan that says ERR! costs nothing else, and each GPU of a table is read.
func TestCapturedTables(t *testing.T) {
	for file, want := range map[string]struct {
		gpus int
		told string
	}{
		"nvidia/rtx4090-drv525-err-fan/table.txt":    {1, "23028 MiB used 2021, 450 W, 38 C, exclusive process, persistent false"},
		"nvidia/h100-sxm5-x8-drv550.90.07/table.txt": {8, "81559 MiB used 1, 700 W, 27 C, default, persistent true"},
		h100 + "load-table.txt":                      {1, "81559 MiB used 19818, 700 W, 59 C, default, persistent true"},
		l40s + "idle-table.txt":                      {1, "46068 MiB used 0, 350 W, 64 C, default, persistent false"},
	} {
		log, err := parseCSV([]byte(fromTable(captured(t, file))))
		if err != nil {
			t.Fatal(err)
		}
		gpus := log.all("gpu")
		if len(gpus) != want.gpus {
			t.Fatalf("%s: %d GPUs", file, len(gpus))
		}
		a := first(log)
		got := fmt.Sprintf("%d MiB used %d, %g W, %g C, %s, persistent %t", a.VRAMBytes.Value>>20, a.VRAMUsedBytes.Value>>20, a.PowerCapW.Value, a.Temperatures.EdgeC.Value, a.ComputeMode.Value, a.Persistence.Value)
		if got != want.told {
			t.Errorf("%s: %s", file, got)
		}
	}
}

// TestCapturedQueries samples whole queries of two drivers: what a GPU does not have is no series, and the reading of the instant is the power.
func TestCapturedQueries(t *testing.T) {
	for file, want := range map[string]map[string]float64{
		h100 + "idle-query-gpu.csv": {"power_w": 69.62, "temp_c": 41, "mem_temp_c": 48, "util_pct": 0, "throttle_power_s": 0},
		mig + "idle-query-gpu.csv":  {"power_w": 70.72, "temp_c": 42, "mem_temp_c": 48, "util_pct": -1, "mem_util_pct": -1},
		l40s + "idle-query-gpu.csv": {"power_w": 127.67, "mem_temp_c": -1, "util_pct": 100, "pcie_gts": 16},
		l40s + "load-query-gpu.csv": {"power_w": 112.38, "mem_temp_c": -1, "pcie_width": 16, "energy_j": -1},
	} {
		tab, err := parseTable([]byte(captured(t, file)))
		if err != nil || len(tab.rows) != 1 {
			t.Fatal(err)
		}
		batch := sut.NewBatch()
		tab.sample(batch, "", tab.rows[0])
		tab.throttle(batch, "", tab.rows[0], held{})
		got := map[string]float64{}
		for _, s := range batch.List {
			got[s.Series] = s.Value
		}
		for series, v := range want {
			if sampled, ok := got[series]; ok != (v >= 0) || (ok && sampled != v) {
				t.Errorf("%s: %s is %g (%t), not %g", file, series, sampled, ok, v)
			}
		}
	}
}

// TestCapturedHelp: what a driver says it knows is what its query gives, and the fields for samples are taken from it.
func TestCapturedHelp(t *testing.T) {
	text := captured(t, h100+"help-query-gpu.txt")
	known := parseFields(text)
	tab, err := parseTable([]byte(captured(t, h100+"idle-query-gpu.csv")))
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range tab.fields {
		if !slices.Contains(known, field) {
			t.Errorf("the query gives %s, which is not among the %d known", field, len(known))
		}
	}
	if len(tab.fields) != 212 || slices.ContainsFunc(known, func(name string) bool { return strings.Contains(name, "energy") }) {
		t.Errorf("%d fields", len(tab.fields))
	}
	h := machine(t, nil, map[string]string{"--help-query-gpu": text})
	fields := askFields(t.Context(), h, wantedSamples(), coreSamples())
	for _, f := range []string{"pci.bus_id", "power.draw.instant", "temperature.memory", "clocks.current.sm", counterGroup + "sw_power_cap", "clocks_event_reasons.sw_power_cap"} {
		if !slices.Contains(fields, f) {
			t.Errorf("%s is not asked for: %v", f, fields)
		}
	}
	for _, f := range fields {
		if !slices.Contains(known, f) {
			t.Errorf("%s is asked for and not known", f)
		}
	}
}

// fromDmon makes a program's reports from the rows of the tool's monitor: "-" stands for none.
func fromDmon(text string) string {
	columns := map[string]string{"pwr": "power.draw [W]", "gtemp": "temperature.gpu", "mtemp": "temperature.memory", "sm": "utilization.gpu [%]", "mem": "utilization.memory [%]", "mclk": "clocks.current.memory [MHz]", "pclk": "clocks.current.sm [MHz]"}
	var names []string
	out := ""
	for line := range strings.Lines(text) {
		cells := strings.Fields(line)
		switch {
		case len(cells) == 0:
			return out
		case cells[0] == "#" && names == nil:
			names = cells[1:]
			out = "pci.bus_id"
			for _, n := range names {
				if columns[n] != "" {
					out += ", " + columns[n]
				}
			}
			out += "\n"
		case cells[0] != "#":
			out += "00000000:19:00.0"
			for i, cell := range cells {
				if columns[names[i]] != "" {
					out += ", " + strings.Replace(cell, "-", "[N/A]", 1)
				}
			}
			out += "\n"
		}
	}
	return out
}

// TestCapturedMonitor feeds seconds of real loads to the reader.
func TestCapturedMonitor(t *testing.T) {
	for file, want := range map[string]map[string][]float64{
		h100 + "load-dmon.txt": {"power_w": {631, 634, 633, 634, 636}, "mem_temp_c": {57, 58, 58, 59, 59}, "util_pct": {100, 100, 100, 100, 100}, "clock_mhz": {1980, 1980, 1980, 1980, 1980}},
		mig + "load-dmon.txt":  {"power_w": {438, 440}, "util_pct": nil},
		l40s + "idle-dmon.txt": {"power_w": {66, 65, 65, 51, 37}, "mem_temp_c": nil, "mem_clock_mhz": {9001, 9001, 9001, 405, 405}},
	} {
		got := map[string][]float64{}
		for _, s := range lines(t, fromDmon(captured(t, file))) {
			name := strings.TrimPrefix(s.Series, "gpu3.")
			got[name] = append(got[name], s.Value)
		}
		for series, values := range want {
			if n := min(len(values), len(got[series])); !slices.Equal(values, got[series][:n]) || (values == nil) != (got[series] == nil) {
				t.Errorf("%s: %s is %v, not %v", file, series, got[series], values)
			}
		}
	}
}

// fromProfile makes the tool's report from a profile of a simulated device.
func fromProfile(t *testing.T, text string) (string, profile) {
	t.Helper()
	var p profile
	if err := yaml.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	d := p.Device
	watts := func(name string, mw int) string { return fmt.Sprintf("<%s>%.2f W</%s>", name, float64(mw)/1000, name) }
	xml := fmt.Sprintf("<nvidia_smi_log><driver_version>%s</driver_version><cuda_version>%s</cuda_version><attached_gpus>%d</attached_gpus>", p.System.Driver, p.System.CUDA, len(p.Devices))
	for _, one := range p.Devices {
		xml += fmt.Sprintf(`<gpu id="0000%s"><product_name>%s</product_name><uuid>%s</uuid><vbios_version>%s</vbios_version><fb_memory_usage><total>%d MiB</total></fb_memory_usage>`, one.PCI.BusID, d.Name, one.UUID, d.VBIOS, d.Memory.Total>>20) +
			"<gpu_power_readings>" + watts("current_power_limit", d.Power.Enforced) + watts("default_power_limit", d.Power.Default) + watts("min_power_limit", d.Power.Min) + watts("max_power_limit", d.Power.Max) + "</gpu_power_readings>" +
			fmt.Sprintf("<pci><pci_gpu_link_info><pcie_gen><max_device_link_gen>%d</max_device_link_gen></pcie_gen></pci_gpu_link_info></pci></gpu>", d.PCIe.Gen)
	}
	return xml + "</nvidia_smi_log>", p
}

// profile is what the tests take of a profile.
type profile struct {
	System struct {
		Driver string `yaml:"driver_version"`
		CUDA   string `yaml:"cuda_version"`
	} `yaml:"system"`
	Device struct {
		Name       string `yaml:"name"`
		VBIOS      string `yaml:"vbios_version"`
		Capability struct {
			Major int `yaml:"major"`
			Minor int `yaml:"minor"`
		} `yaml:"compute_capability"`
		Memory struct {
			Total int64 `yaml:"total_bytes"`
		} `yaml:"memory"`
		Power struct {
			Default  int `yaml:"default_limit_mw"`
			Enforced int `yaml:"enforced_limit_mw"`
			Min      int `yaml:"min_limit_mw"`
			Max      int `yaml:"max_limit_mw"`
		} `yaml:"power"`
		PCIe struct {
			Gen int `yaml:"max_link_gen"`
		} `yaml:"pcie"`
	} `yaml:"device_defaults"`
	Devices []struct {
		UUID string `yaml:"uuid"`
		PCI  struct {
			BusID string `yaml:"bus_id"`
		} `yaml:"pci"`
	} `yaml:"devices"`
}

// TestProfiles reads machines that nobody has captured, as their simulation describes them.
func TestProfiles(t *testing.T) {
	for name, want := range map[string]string{
		"b200":  "8 x NVIDIA B200 sm_100, 196608 MiB, 400/1000/1000/1200 W, max 64 GT/s, HBM3e",
		"gb200": "8 x NVIDIA GB200 sm_100, 196608 MiB, 400/1000/1000/1200 W, max 64 GT/s, ",
		"h100":  "8 x NVIDIA H100 80GB HBM3 sm_90, 81920 MiB, 200/700/700/700 W, max 32 GT/s, HBM3",
	} {
		xml, p := fromProfile(t, captured(t, "nvidia/nvml-profiles/"+name+".yaml"))
		caps := "pci.bus_id, compute_cap\n"
		for _, one := range p.Devices {
			caps += fmt.Sprintf("0000%s, %d.%d\n", one.PCI.BusID, p.Device.Capability.Major, p.Device.Capability.Minor)
		}
		s := probe(t, machine(t, map[string]string{"proc/driver/nvidia/version": ""}, map[string]string{"-q -x": xml, "--query-gpu=pci.bus_id,compute_cap --format=csv": caps}))
		said := map[string]bool{}
		for _, a := range s.Accelerators.Items {
			said[fmt.Sprintf("%d x %s %s, %d MiB, %g/%g/%g/%g W, max %g GT/s, %s", len(s.Accelerators.Items), a.Name.Value, a.Arch.Value, a.VRAMBytes.Value>>20, a.PowerMinW.Value, a.PowerCapW.Value, a.PowerDefaultW.Value, a.PowerMaxW.Value, a.Link.MaxGTS.Value, a.MemoryType.Value)] = true
		}
		if got := slices.Collect(maps.Keys(said)); len(got) != 1 || got[0] != want || s.Software.NVIDIADriver.Value != p.System.Driver {
			t.Errorf("%s: %v", name, got)
		}
	}
}
