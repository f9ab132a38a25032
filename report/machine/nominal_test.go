package machine

import "testing"

func TestNominal(t *testing.T) {
	for _, tt := range []struct {
		name  string
		bytes int64
		want  string
	}{
		{"AMD Instinct MI300X OAM", 206141652992, "192 GB (191.98 GiB told)"},
		{"AMD Instinct MI300X VF", 205822885888, "192 GB (191.69 GiB told)"},
		{"AMD Instinct MI355X", 294896 << 20, "288 GB (287.98 GiB told)"},
		{"AMD Instinct MI210", 65520 << 20, "64 GB (63.98 GiB told)"},
		{"AMD Instinct MI100", 34342961152, "32 GB (31.98 GiB told)"},
		{"NVIDIA H100 80GB HBM3", 81559 << 20, "80 GB (79.65 GiB told)"},
		{"NVIDIA H200", 143771 << 20, "141 GB (140.4 GiB told)"},
		{"NVIDIA L40S", 46068 << 20, "48 GB (44.99 GiB told)"},
		{"NVIDIA GeForce RTX 4090", 24564 << 20, "24 GB (23.99 GiB told)"},
		{"NVIDIA A100-SXM4-80GB", 81920 << 20, "80 GB (80 GiB told)"},
		{"NVIDIA A100-SXM4-40GB", 40536 << 20, "40 GB (39.59 GiB told)"},
		{"NVIDIA RTX PRO 6000 Blackwell Server Edition", 97887 << 20, "96 GB (95.59 GiB told)"},
		{"NVIDIA H100 80GB HBM3", 40448 << 20, "39.5 GiB"}, // a part of one is no product
		{"a card nobody knows", 24 << 30, "24 GiB"},
	} {
		if got := Nominal(tt.name, tt.bytes); got != tt.want {
			t.Errorf("%s: %s, not %s", tt.name, got, tt.want)
		}
	}
}
