package probes

import "testing"

// TestMemoryOfGPUNodes: what the kernel lists as nodes of GPUs is no memory of the host, and a node of another kind is.
func TestMemoryOfGPUNodes(t *testing.T) {
	node := func(kind string, bytes Fact[int64]) NUMANode {
		return NUMANode{Kind: Known(kind, "/sys/devices/system/node/has_cpu"), Bytes: bytes}
	}
	s := SUT{
		Memory: Memory{Bytes: Known(int64(1000), "/proc/meminfo")},
		CPU: CPU{NUMANodes: List[NUMANode]{Items: []NUMANode{
			node("cpu", Known(int64(800), "meminfo")), node("gpu", Known(int64(150), "meminfo")), node("gpu", Known(int64(50), "meminfo")), node("gpu", Unknown[int64]("no file")),
		}}},
	}
	settleNodes(&s)
	if f := s.Memory.Bytes; f.Value != 800 || f.Source == "/proc/meminfo" {
		t.Errorf("%+v", f)
	}
	s.Memory.Bytes = Unknown[int64]("no meminfo")
	if settleNodes(&s); s.Memory.Bytes.IsKnown() || s.Memory.Bytes.Value != 0 {
		t.Errorf("%+v", s.Memory.Bytes)
	}
}

// TestVendorsThatAreNotThere: what belongs to a vendor whose GPUs the machine lacks does not apply, unless it was found all the same; where
// the list could not be read nothing of it is said.
func TestVendorsThatAreNotThere(t *testing.T) {
	s := SUT{Accelerators: List[Accelerator]{Items: []Accelerator{gpu("0000:05:00.0")}}}
	s.Software.AMDGPU, s.Software.CUDA = Unknown[string]("no module"), Known("12.8", "nvidia-smi")
	settleVendors(&s)
	if w := s.Software; w.NVIDIADriver.NA == "" || w.ContainerToolkit.NA == "" || w.AMDGPU.NA != "" || w.CUDA.Value != "12.8" || s.Interconnect.Switches.NA == "" {
		t.Errorf("%+v, %+v", w, s.Interconnect)
	}
	s = SUT{Accelerators: List[Accelerator]{Unknown: "the bus could not be read"}}
	if settleVendors(&s); s.Software.NVIDIADriver.NA != "" || s.Interconnect.Kind.Unknown != "the bus could not be read" {
		t.Errorf("%+v, %+v", s.Software, s.Interconnect)
	}
	s = SUT{}
	if settleVendors(&s); s.Interconnect.Kind.NA != "no accelerators" || s.Interconnect.Links.Items == nil {
		t.Errorf("%+v", s.Interconnect)
	}
}
