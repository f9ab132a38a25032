package probes

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// toolFixtures are captures of what AMD's tools print. Where they were kept as text for people, they are made into the JSON that the
// same tool prints when asked for it.
func toolFixtures() []fixture {
	return []fixture{
		{name: "amd/rocm-smi-mi308x-x8-rocm7.2", made: func(t *testing.T, from string) map[string]string {
			return map[string]string{"rocm-smi -a --json": rocmText(content(t, filepath.Join(from, "concise.txt")), content(t, filepath.Join(from, "use-meminfo.txt")),
				content(t, filepath.Join(from, "showtopo.txt")))}
		}},
		{name: "amd/amd-smi-mi300a-x4-rocm7.14", made: func(t *testing.T, from string) map[string]string {
			out := smiTable(content(t, filepath.Join(from, "default.txt")))
			out["amd-smi static --json"] = smiTree(content(t, filepath.Join(from, "static-g0.txt")))
			return out
		}},
		{name: "amd/amd-smi-static-mi210-rocm7", commands: map[string]string{"amd-smi static --json": "static.json"}},
	}
}

// toolValues are found in SUTs that a tool told of.
func toolValues() map[string]func(SUT) any {
	return map[string]func(SUT) any{
		"numa":              ofEach(func(a Accelerator) any { return value(a.NUMANode) }),
		"memory_partition":  ofFirst(func(a Accelerator) any { return value(a.Partition.Memory) }),
		"compute_partition": ofFirst(func(a Accelerator) any { return value(a.Partition.Compute) }),
		"power_limit_w":     ofFirst(func(a Accelerator) any { return value(a.PowerCapW) }),
		"power_limit_max_w": ofFirst(func(a Accelerator) any { return value(a.PowerMaxW) }),
		"vram_mib":          ofFirst(func(a Accelerator) any { return mebibytes(a.VRAMBytes) }),
		"cu":                ofFirst(func(a Accelerator) any { return value(a.ComputeUnits) }),
	}
}

func inJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// smiTree makes amd-smi's JSON of its indented text.
func smiTree(text string) string {
	var list []map[string]any
	var open []map[string]any // by depth
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if depth := (len(line) - len(strings.TrimLeft(line, " "))) / 4; depth == 0 {
			gpu, _ := strconv.Atoi(strings.TrimSpace(value))
			list = append(list, map[string]any{"gpu": gpu})
			open = []map[string]any{list[len(list)-1]}
		} else if value == "" {
			below := map[string]any{}
			open[depth-1][strings.ToLower(key)] = below
			open = append(open[:depth], below)
		} else {
			open[depth-1][strings.ToLower(key)] = strings.TrimSpace(value)
		}
	}
	return inJSON(map[string]any{"gpu_data": list})
}

// smiTable makes the JSON of several commands of amd-smi of the table that it prints without one.
func smiTable(text string) map[string]string {
	top := regexp.MustCompile(`\| ([0-9a-f:.]{12})\s+(\S.*?)\s+\|.*? ([0-9.]+)(?:/([0-9.]+))? W \|`).FindAllStringSubmatch(text, -1)
	below := regexp.MustCompile(`\|\s+(\d+)\s+\d+\s+\d+\s+(\w+)/(\w+) \|.*? (\d+)/(\d+) MB \|`).FindAllStringSubmatch(text, -1)
	var list, static, partitions []map[string]any
	for i, row := range top {
		gpu := below[i][1]
		list = append(list, map[string]any{"gpu": gpu, "bdf": row[1]})
		size := map[string]any{"value": below[i][5], "unit": "MB"}
		static = append(static, map[string]any{"gpu": gpu, "bus": map[string]any{"bdf": row[1]}, "asic": map[string]any{"market_name": row[2]},
			"limit": map[string]any{"socket_power": row[4] + " W"}, "vram": map[string]any{"size": size}})
		partitions = append(partitions, map[string]any{"gpu_id": gpu, "memory": below[i][3], "accelerator_type": below[i][2]})
	}
	rocm := regexp.MustCompile(`ROCm [vV]ersion: +(\S+)`).FindStringSubmatch(text)
	return map[string]string{
		"amd-smi list --json": inJSON(list), "amd-smi static --json": inJSON(static), "amd-smi version --json": inJSON([]any{map[string]any{"rocm_version": rocm[1]}}),
		"amd-smi partition --json": inJSON(map[string]any{"current_partition": partitions}),
	}
}

// smiMonitor makes the JSON of amd-smi of the columns that it prints while it watches.
func smiMonitor(text string) map[string]string {
	var list, static []map[string]any
	for _, row := range regexp.MustCompile(`(?m)^ +(\d+) +(\d+) +(\S+).*/ *([0-9.]+) GB$`).FindAllStringSubmatch(text, -1) {
		list = append(list, map[string]any{"gpu": row[1], "bdf": "N/A", "partition_id": row[2]})
		static = append(static, map[string]any{"gpu": row[1], "vram": map[string]any{"size": map[string]any{"value": row[4], "unit": "GB"}}})
	}
	return map[string]string{"amd-smi list --json": inJSON(list), "amd-smi static --json": inJSON(map[string]any{"gpu_data": static})}
}

// rocmText makes rocm-smi's JSON of its table and its lines for each GPU.
func rocmText(texts ...string) string {
	cards := map[string]map[string]string{}
	set := func(card, key, value string) {
		if cards["card"+card] == nil {
			cards["card"+card] = map[string]string{}
		}
		cards["card"+card][key] = value
	}
	text := strings.Join(texts, "\n")
	for _, m := range regexp.MustCompile(`(?m)^(\d+) +\d+ +(0x\w+), .*?C +([0-9.]+)W +(\w+), (\w+), .* ([0-9.]+)W `).FindAllStringSubmatch(text, -1) {
		for key, value := range map[string]string{
			"Device ID": m[2], "Current Socket Graphics Package Power (W)": m[3], "Memory Partition": m[4], "Compute Partition": m[5], "Max Graphics Package Power (W)": m[6],
		} {
			set(m[1], key, value)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^GPU\[(\d+)\]\s*: (.+): (\S+)$`).FindAllStringSubmatch(text, -1) {
		set(m[1], m[2], m[3])
	}
	return "WARNING: AMD GPU device(s) is/are in a low-power state. Check power control/runtime_status\n\n" + inJSON(cards)
}

// made is a host of which only these outputs of programs are known.
func made(t *testing.T, outputs map[string]string) Host {
	t.Helper()
	dir := t.TempDir()
	writeCommands(t, dir, outputs)
	return openCapture(t, dir)
}

// TestToolTables reads captures that EXPECTED.json has no values of; INDEX.md says in words what stands in them.
func TestToolTables(t *testing.T) {
	guest := content(t, publicFile(t, "amd/amd-smi-default-mi300x-vm-rocm7.0/table.txt"))
	s := Read(t.Context(), made(t, smiTable(guest)), Program{})
	if len(s.Accelerators.Items) != 1 || s.Software.ROCm.Value != "7.0.0" {
		t.Fatalf("%d accelerators, ROCm %+v", len(s.Accelerators.Items), s.Software.ROCm)
	}
	a := s.Accelerators.Items[0]
	if a.PCI.Address.Value != "0003:00:03.0" || a.PowerCapW.Value != 750 || a.VRAMBytes.Value != 206141652992 || a.Partition.Compute.Value != "SPX" {
		t.Errorf("%+v", a)
	}
	parted := content(t, publicFile(t, "amd/amd-smi-mi300x-cpx-nps4-rocm7.14/monitor.txt"))
	list := Read(t.Context(), made(t, smiMonitor(parted)), Program{}).Accelerators.Items
	if len(list) != 2 {
		t.Fatalf("%d devices of 2", len(list))
	}
	for _, a := range list {
		if a.VRAMBytes.Value != 192<<30 || a.Partition.Count.Value != 4 || a.Partition.VRAMBytes.Value != 48<<30 || a.PowerCapW.IsKnown() {
			t.Errorf("memory %+v, %+v", a.VRAMBytes, a.Partition)
		}
	}
}

func publicFile(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(fixtures, name)
	if found, err := filepath.Glob(path); err != nil || len(found) == 0 {
		t.Skipf("no public captures here: %s", path)
	}
	return path
}

// TestROCmSMI reads what rocm-smi printed over the years.
func TestROCmSMI(t *testing.T) {
	type card struct {
		count                            int
		id, address, vbios, arch, driver string
		vram                             int64
		cap                              float64
	}
	for file, want := range map[string]card{
		"mi100_rocm571.json":        {1, "0x738c", "0000:1e:00.0", "113-D3430400-037", "", "", 34342961152, 290},
		"mi100_rocm602.json":        {1, "0x738c", "0000:83:00.0", "113-D3431401-101", "", "", 34342961152, 290},
		"rx6700xt_rocm612.json":     {1, "0x73df", "0000:07:00.0", "113-67XA6SSB1-D01", "gfx1031", "6.3.6", 12868124672, 211},
		"vega-20-wks-gl-xe.json":    {1, "0x66a1", "0000:63:00.0", "113-D1631700-111", "", "5.9.17", 34342961152, 225},
		"mi300a-x4_drv6.16.13.json": {4, "0x74a0", "", "", "gfx942", "6.16.13", 0, 0},
	} {
		s := Read(t.Context(), made(t, map[string]string{"rocm-smi -a --json": content(t, publicFile(t, "amd/rocm-smi-json/"+file))}), Program{})
		if len(s.Accelerators.Items) < want.count {
			t.Errorf("%s: %d accelerators, %s", file, len(s.Accelerators.Items), s.Accelerators.Unknown)
			continue
		}
		a := s.Accelerators.Items[0]
		got := card{want.count, a.PCI.DeviceID.Value, a.PCI.Address.Value, a.VBIOS.Value, a.Arch.Value, want.driver, a.VRAMBytes.Value, a.PowerCapW.Value}
		if got != want || (want.driver != "" && s.Software.AMDGPU.Value != want.driver) {
			t.Errorf("%s: %+v, not %+v; driver %+v", file, got, want, s.Software.AMDGPU)
		}
		if strings.Contains(fmt.Sprintf("%+v", a), "f00000000000000") {
			t.Errorf("%s: the unique id stands in the SUT", file)
		}
	}
}
