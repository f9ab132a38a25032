package sampled

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/report/figure"
	"assay/result"
)

func ptr(v float64) *float64 { return &v }

func TestRows(t *testing.T) {
	known := result.Point{
		Window: &result.Window{DurationS: 60},
		Energy: &result.Energy{Accelerators: 2, TokensPerJoule: ptr(0.5)},
		Telemetry: map[string]result.Telemetry{
			"gpu0.power_w":              {Mean: 400, Max: 500, EnergyJ: ptr(24_000), Method: "counter", Coverage: 1},
			"gpu1.power_w":              {Mean: 200, Max: 300, EnergyJ: ptr(12_000), Method: "trapezoid", Coverage: 0.96},
			"gpu0.energy_j":             {Growth: ptr(24_000)},
			"gpu0.throttle_ppt_s":       {Growth: ptr(30)},
			"gpu1.throttle_ppt_s":       {Growth: ptr(6)},
			"gpu0.pcie_replay_total":    {Growth: ptr(3)},
			"engine.generation_tokens":  {Growth: ptr(1500)},
			"nic.eth0.rx_bytes_per_s":   {Mean: 1 << 20, Max: 2 << 20},
			"nic.eth1.rx_bytes_per_s":   {Mean: 3 << 20, Max: 4 << 20},
			"disk.sda.read_bytes_per_s": {Mean: 1, Max: 2}, // the one drive: the host's series tells it
		},
	}
	lost := result.Point{
		Energy: &result.Energy{Accelerators: 2, Unknown: "gpu1.power_w was not sampled"},
		Telemetry: map[string]result.Telemetry{
			"gpu0.power_w":           {Mean: 400, Max: 500, EnergyUnknown: "a hole"},
			"gpu0.pcie_replay_total": {Growth: ptr(3)}, "gpu1.pcie_replay_total": {}, // the sum of a part stands for nothing
			"gpu0.throttle_ppt_s": {Growth: ptr(30)}, // of a window that is not told
		},
	}
	type line struct {
		Label       string
		Known, Lost Cell
	}
	var got []line
	for _, r := range Rows([]result.Point{known, lost, {}}) {
		got = append(got, line{r.Label, r.Of(known), r.Of(lost)})
		if c := r.Of(result.Point{}); c.Text != figure.None {
			t.Errorf("%s of a point that was not measured: %+v", r.Label, c)
		}
	}
	none := Cell{Text: figure.None}
	want := []line{
		{"GPU power, W: mean / max", Cell{Text: "300.0 / 500.0"}, Cell{Text: "400.0 / 500.0"}},
		{"GPU energy, kJ", Cell{"36.0", "by counter, 100.0 % of the window known; by trapezoid, 96.0 % of the window known"}, Cell{figure.None, "a hole"}},
		{"GPU PCIe replay total: increase", Cell{Text: "3.00"}, none},
		{"GPU throttle PPT, % of the window: mean / max", Cell{Text: "30.0 / 50.0"}, none},
		{"Engine generation tokens: increase", Cell{Text: "1,500"}, none},
		{"NIC received, MiB/s: mean / max", Cell{Text: "2.00 / 4.00"}, none},
		{"Output tokens per joule", Cell{"0.500", "output tokens in the window / energy of all 2 accelerators"}, Cell{figure.None, "gpu1.power_w was not sampled"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
