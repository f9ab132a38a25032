package probes

import (
	"path/filepath"
	"strings"
	"testing"
)

// gpu is an AMD device at an address, "" for one whose source names none.
func gpu(address string) Accelerator {
	a := Accelerator{Vendor: Known("AMD", "bus"), PCI: PCI{Address: Unknown[string]("no address"), DeviceID: Known("0x75a0", "bus")}, IFWI: Unknown[string]("the kernel does not tell")}
	if address != "" {
		a.PCI.Address = Known(address, "bus")
	}
	return a
}

// TestField_rocmsystems_2987: half the compute units by a library that does not know the GPU; the kernel's number stands, the other is
// shown beside it.
func TestField_rocmsystems_2987(t *testing.T) {
	kernel, tool := gpu("0000:05:00.0"), gpu("0000:05:00.0")
	kernel.ComputeUnits, tool.ComputeUnits = Known(256, "kfd"), Known(128, "amd-smi static: asic.num_compute_units")
	list := List[Accelerator]{Items: []Accelerator{kernel}}
	joinSecond(&list, &second{Items: []Accelerator{tool}})
	cu := list.Items[0].ComputeUnits
	if len(list.Items) != 1 || cu.Value != 256 || cu.Source != "kfd" || !strings.Contains(cu.Other, "amd-smi static: asic.num_compute_units says 128") {
		t.Errorf("%+v", cu)
	}
}

// TestSecondSource: which device of the tool is which of the kernel's, and what each may say.
func TestSecondSource(t *testing.T) {
	names := func(l List[Accelerator]) string {
		var s []string
		for _, a := range l.Items {
			s = append(s, a.PCI.Address.Value+"="+a.IFWI.Value)
		}
		return strings.Join(s, " ")
	}
	told := func(address, ifwi string) Accelerator { a := gpu(address); a.IFWI = Known(ifwi, "amd-smi"); return a }
	other := told("", "x")
	other.PCI.DeviceID.Value = "0x740f"
	for _, c := range []struct {
		name         string
		first, tool  []Accelerator
		want         string
		kernelReason string
	}{
		{"by address", []Accelerator{gpu("0000:05:00.0"), gpu("0000:15:00.0")}, []Accelerator{told("0000:15:00.0", "b"), told("0000:05:00.0", "a")}, "0000:05:00.0=a 0000:15:00.0=b", ""},
		{"the only one of its kind", []Accelerator{gpu("0000:05:00.0")}, []Accelerator{told("", "a"), other}, "0000:05:00.0=a", ""},
		{"two of a kind are not guessed", []Accelerator{gpu("0000:05:00.0"), gpu("0000:15:00.0")}, []Accelerator{told("", "a"), told("", "b")}, "0000:05:00.0= 0000:15:00.0=", ""},
		{"one that the kernel lacks", []Accelerator{gpu("0000:05:00.0")}, []Accelerator{told("0000:95:00.0", "c")}, "0000:05:00.0= 0000:95:00.0=c", ""},
		{"the tool alone", nil, []Accelerator{told("", "a"), told("", "b")}, "=a =b", "the bus could not be read"},
		{"nobody", nil, nil, "", ""},
	} {
		list := List[Accelerator]{Items: c.first, Unknown: c.kernelReason}
		joinSecond(&list, &second{Items: c.tool})
		if got := names(list); got != c.want || list.Unknown != "" {
			t.Errorf("%s: %q, not %q; %s", c.name, got, c.want, list.Unknown)
		}
	}
	list := List[Accelerator]{Items: []Accelerator{gpu("0000:05:00.0")}}
	joinSecond(&list, &second{Unknown: "amd-smi is not installed"})
	if f := list.Items[0].IFWI; f.Unknown != "amd-smi is not installed" || list.Unknown != "" {
		t.Errorf("%+v, %q", f, list.Unknown)
	}
}

// TestAgreement: a tool's rounding is no disagreement, and what moves is not compared.
func TestAgreement(t *testing.T) {
	kernel, tool := gpu("0000:05:00.0"), gpu("0000:05:00.0")
	kernel.PowerCapW, tool.PowerCapW = Known(289.6, "hwmon"), Known(289.0, "tool")
	kernel.VRAMBytes, tool.VRAMBytes = Known(int64(206141652992+4096), "sysfs"), Known(int64(206141652992), "tool")
	kernel.MemoryType, tool.MemoryType = Known("HBM3", "table"), Known("HBM", "tool")
	kernel.Temperatures.HotspotC, tool.Temperatures.HotspotC = Known(40.0, "hwmon"), Known(60.0, "tool")
	kernel.Persistence, tool.Persistence = NA[bool]("no such thing"), Known(true, "tool")
	kernel.Partition.Memory, tool.Partition.Memory = Known("NPS1", "sysfs"), Known("NPS4", "tool")
	kernel.Throttle = List[string]{Unknown: "no metrics"}
	tool.Throttle = List[string]{Items: []string{"power"}}
	list := List[Accelerator]{Items: []Accelerator{kernel}}
	joinSecond(&list, &second{Items: []Accelerator{tool}})
	a := list.Items[0]
	for _, other := range []string{a.PowerCapW.Other, a.VRAMBytes.Other, a.MemoryType.Other, a.Temperatures.HotspotC.Other, a.Persistence.Other} {
		if other != "" {
			t.Errorf("%q is no disagreement", other)
		}
	}
	if a.Partition.Memory.Value != "NPS1" || a.Partition.Memory.Other != "tool says NPS4; what the kernel shows is taken" || len(a.Throttle.Items) != 1 || a.Persistence.NA == "" {
		t.Errorf("%+v, %+v, %+v", a.Partition.Memory, a.Throttle, a.Persistence)
	}
}

// TestBMCIsSecond: what the BMC says of the board fills what firmware does not tell the kernel, and stands beside it where it does.
func TestBMCIsSecond(t *testing.T) {
	const answer = `{"@odata.type":"#ComputerSystem.v1_9_0.ComputerSystem","Model":"PowerEdge XE9680","BiosVersion":"2.6.5","MemorySummary":{"TotalSystemMemoryGiB":2048}}`
	dir := t.TempDir()
	write(t, filepath.Join(dir, "sys/class/dmi/id/bios_version"), "2.6.3")
	write(t, filepath.Join(dir, "redfish/v1/Systems/a/index.json"), answer)
	write(t, filepath.Join(dir, "redfish/v1/Managers/a.json"), `{"@odata.type":"#Manager.v1_9_0.Manager","FirmwareVersion":"7.10.30.00","Model":"16G Monolithic"}`)
	s := Read(t.Context(), openCapture(t, dir), Program{})
	if s.System.Product.Value != "PowerEdge XE9680" || s.Memory.InstalledBytes.Value != 2<<40 || s.System.BMC.Value != "16G Monolithic 7.10.30.00" {
		t.Errorf("%+v %+v %+v", s.System.Product, s.Memory.InstalledBytes, s.System.BMC)
	}
	if f := s.System.BIOS.Version; f.Value != "2.6.3" || !strings.Contains(f.Other, "says 2.6.5") {
		t.Errorf("%+v", f)
	}
}
