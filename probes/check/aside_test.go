package check

import (
	"testing"

	"assay/probes/sut"
)

// TestAside: the processor's own GPU, of which little is known, spoils no check of a machine with cards; where it is the only one it counts.
func TestAside(t *testing.T) {
	own := sut.Accelerator{Vendor: known("Intel"), Kind: known("integrated"), Usable: known(true), PCI: sut.PCI{Address: known("0000:00:02.0")}}
	s := healthy(4, func(s *sut.SUT) {
		for i := range s.Accelerators.Items {
			s.Accelerators.Items[i].Kind, s.Accelerators.Items[i].XGMIPeers = known("discrete"), sut.Known(3, "test")
		}
		s.Interconnect.Kind, s.Interconnect.Hives = known("xgmi"), sut.Known(1, "test")
		s.Accelerators.Items = append([]sut.Accelerator{own}, s.Accelerators.Items...)
	})
	about := map[string]bool{"gpu_count": true, "power_cap": true, "driver_equal": true, "idle": true, "ecc": true, "link": true, "p2p": true, "fabric": true}
	seen := 0
	for _, c := range Evaluate(Request{SUT: s, Wanted: Wanted{"gpu_count": 4}}) {
		if about[c.ID] {
			seen++
			if c.State != OK {
				t.Errorf("%+v", c)
			}
		}
	}
	if seen < len(about)-1 {
		t.Errorf("%d checks", seen)
	}
	s.Accelerators.Items = []sut.Accelerator{own}
	for _, c := range Evaluate(Request{SUT: s, Wanted: Wanted{"gpu_count": 1}}) {
		if c.ID == "gpu_count" && c.State != OK {
			t.Errorf("alone: %+v", c)
		}
	}
}
