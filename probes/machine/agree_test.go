package machine

import (
	"encoding/json"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"assay/probes/host"
	"assay/probes/smbios"
)

// ask runs a tool of this machine; the test is skipped where there is none. Some tools say "none" with an exit code.
func ask(t *testing.T, argv ...string) string {
	t.Helper()
	program, err := exec.LookPath(argv[0])
	if err != nil {
		t.Skipf("%s is not installed here", argv[0])
	}
	cmd := exec.CommandContext(t.Context(), program, argv[1:]...)
	cmd.Env = append(cmd.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil && len(out) == 0 {
		t.Skipf("%s does not work here: %v", strings.Join(argv, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// lscpu gives the fields of lscpu, those of its groups too.
func lscpu(t *testing.T) map[string]string {
	t.Helper()
	type field struct {
		Field, Data string
		Children    []json.RawMessage
	}
	var doc struct{ Lscpu []json.RawMessage }
	if err := json.Unmarshal([]byte(ask(t, "lscpu", "-J", "-B")), &doc); err != nil {
		t.Skipf("lscpu does not write JSON here: %v", err)
	}
	fields := map[string]string{}
	for queue := doc.Lscpu; len(queue) > 0; queue = queue[1:] {
		var f field
		if err := json.Unmarshal(queue[0], &f); err != nil {
			t.Fatal(err)
		}
		fields[strings.TrimSuffix(f.Field, ":")] = f.Data
		queue = append(queue, f.Children...)
	}
	return fields
}

// TestAgreesWithLscpu compares what lscpu counts and names of this machine.
func TestAgreesWithLscpu(t *testing.T) {
	theirs, c := lscpu(t), probeCPU(t, host.Live())
	if len(c.CoreTypes.Items) > 1 {
		t.Skip("lscpu repeats its fields for each kind of core")
	}
	for field, ours := range map[string]string{
		"Socket(s)": strconv.Itoa(c.Sockets.Value), "Core(s) per socket": strconv.Itoa(c.CoresPerSocket.Value), "Thread(s) per core": strconv.Itoa(c.ThreadsPerCore.Value),
		"Vendor ID": c.Vendor.Value, "Model name": c.Model.Value, "NUMA node(s)": strconv.Itoa(len(c.NUMANodes.Items)),
	} {
		if their, ok := theirs[field]; ok && their != "-" && their != ours {
			t.Errorf("%s: lscpu says %q, we %q", field, their, ours)
		}
	}
	online, err := parseCPUList(theirs["On-line CPU(s) list"])
	if err != nil || cpuList(online) != c.Online.Value {
		t.Errorf("lscpu has %q on line, we %q", theirs["On-line CPU(s) list"], c.Online.Value)
	}
	for _, n := range c.NUMANodes.Items {
		if their, ok := theirs["NUMA node"+strconv.Itoa(n.ID.Value)+" CPU(s)"]; ok {
			if list, err := parseCPUList(their); err != nil || cpuList(list) != n.CPUs.Value {
				t.Errorf("node %d: lscpu has %q, we %q", n.ID.Value, their, n.CPUs.Value)
			}
		}
	}
}

// TestAgreesWithLscpuOnCaches compares the size of all caches of each kind.
func TestAgreesWithLscpuOnCaches(t *testing.T) {
	var doc struct {
		Caches []struct {
			Name string
			All  json.Number `json:"all-size"`
		}
	}
	d := json.NewDecoder(strings.NewReader(ask(t, "lscpu", "-J", "-B", "-C=NAME,ALL-SIZE")))
	if err := d.Decode(&doc); err != nil || len(doc.Caches) == 0 {
		t.Skipf("lscpu lists no caches here: %v", err)
	}
	ours := map[string]int64{}
	for _, k := range probeCPU(t, host.Live()).Caches.Items {
		suffix := map[string]string{"data": "d", "instruction": "i"}[k.Type.Value]
		ours["L"+strconv.Itoa(k.Level.Value)+suffix] = k.Bytes.Value
	}
	for _, k := range doc.Caches {
		if all, err := k.All.Int64(); err != nil || all != ours[k.Name] {
			t.Errorf("%s: lscpu has %s bytes, we %d", k.Name, k.All, ours[k.Name])
		}
	}
}

// TestAgreesWithDetectVirt compares the innermost layer, the hypervisor and the container with what systemd sees.
func TestAgreesWithDetectVirt(t *testing.T) {
	s := probeSystem(t, host.Live())
	for _, tt := range []struct {
		argv []string
		ours string
	}{
		{[]string{"systemd-detect-virt"}, s.Virtualization.Value}, {[]string{"systemd-detect-virt", "--vm"}, s.Hypervisor.Value}, {[]string{"systemd-detect-virt", "--container"}, s.Container.Value},
	} {
		if their := ask(t, tt.argv...); their != tt.ours {
			t.Errorf("%s says %q, we %q", strings.Join(tt.argv, " "), their, tt.ours)
		}
	}
}

// TestAgreesWithFree compares the memory that the kernel has.
func TestAgreesWithFree(t *testing.T) {
	ours := strconv.FormatInt(probeMemory(t, host.Live()).Bytes.Value, 10)
	for line := range strings.Lines(ask(t, "free", "-b")) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "Mem:" && f[1] != ours {
			t.Errorf("free has %s bytes, we %s", f[1], ours)
		}
	}
}

// TestAgreesWithLsmem compares the memory blocks that are on line.
func TestAgreesWithLsmem(t *testing.T) {
	_, their, ok := strings.Cut(ask(t, "lsmem", "-b", "--summary=only"), "Total online memory:")
	if !ok {
		t.Skip("lsmem does not tell what is on line here")
	}
	their, _, _ = strings.Cut(strings.TrimSpace(their), "\n")
	if ours := probeMemory(t, host.Live()).OnlineBytes; strconv.FormatInt(ours.Value, 10) != their {
		t.Errorf("lsmem has %s bytes, we %+v", their, ours)
	}
}

// TestAgreesWithDmidecode compares the board, the BIOS and the DIMMs where this machine has a table that we may read.
func TestAgreesWithDmidecode(t *testing.T) {
	if _, err := host.Live().Read(smbios.Path); err != nil {
		t.Skipf("no table here: %v", err)
	}
	s, m := probeSystem(t, host.Live()), probeMemory(t, host.Live())
	for word, ours := range map[string]string{"system-manufacturer": s.Vendor.Value, "system-product-name": s.Product.Value, "bios-version": s.BIOS.Version.Value} {
		if their, err := boardText(ask(t, "dmidecode", "-s", word)); err == nil && their != ours {
			t.Errorf("%s: dmidecode says %q, we %q", word, their, ours)
		}
	}
	slots, dimms := 0, 0
	for line := range strings.Lines(ask(t, "dmidecode", "-t", "17")) {
		if size, ok := strings.CutPrefix(strings.TrimSpace(line), "Size: "); ok {
			slots++
			if size != "No Module Installed" {
				dimms++
			}
		}
	}
	if slots > 0 && (slots != m.Slots.Value || dimms != len(m.DIMMs.Items)) {
		t.Errorf("dmidecode has %d of %d slots populated, we %d of %d", dimms, slots, len(m.DIMMs.Items), m.Slots.Value)
	}
}
