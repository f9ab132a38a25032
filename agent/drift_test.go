package agent

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"assay/probes"
	"assay/result"
)

// TestDriftOfAPoint: what changed makes a point not valid, what could not be read again is listed with it and compared at the next look,
// and the processes of the server are nobody else's.
func TestDriftOfAPoint(t *testing.T) {
	host := probes.Host{Root: t.TempDir(), Live: true}
	file := func(name, text string) {
		t.Helper()
		name = filepath.Join(host.Root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"sys/bus/pci/devices/0000:03:00.0/vendor": "0x1002", "sys/bus/pci/devices/0000:03:00.0/device": "0x74a1", "sys/bus/pci/devices/0000:03:00.0/class": "0x120000",
		"sys/bus/pci/devices/0000:03:00.0/mem_info_vram_total": "206141652992", "sys/bus/pci/devices/0000:03:00.0/hwmon/hwmon1/name": "amdgpu",
		"sys/bus/pci/devices/0000:03:00.0/hwmon/hwmon1/power1_cap": "750000000", "proc/cmdline": "quiet",
	} {
		file(name, text)
	}
	const limit = "sys/bus/pci/devices/0000:03:00.0/hwmon/hwmon1/power1_cap"
	x := &execution{Config: Config{Host: host}}
	x.sut = probes.Read(t.Context(), host, x.Program)
	if !x.sut.Accelerators.Items[0].PowerCapW.IsKnown() {
		t.Fatalf("the test's GPU: %+v", x.sut.Accelerators)
	}
	look := func(state result.PointState, codes ...string) {
		t.Helper()
		p := result.Point{State: result.PointValid}
		x.drift(t.Context(), &p)
		var got []string
		for _, r := range p.Reasons {
			got = append(got, r.Code)
		}
		if p.State != state || !slices.Equal(got, codes) {
			t.Errorf("%s %v, want %s %v: %+v", p.State, got, state, codes, p.Reasons)
		}
	}
	look(result.PointValid)
	file(limit, "")
	look(result.PointValid, "drift.not_seen")
	file(limit, "600000000")
	look(result.PointNotValid, "drift.power_cap")
	look(result.PointValid)
	file("proc/cmdline", "quiet mitigations=off")
	look(result.PointNotValid, "drift.os")
}
