package network

import (
	"os"
	"path/filepath"
	"testing"

	"assay/probes/host"
	"assay/probes/hosttest"
)

// ports makes adapters: files below /sys/class/infiniband.
func ports(t *testing.T, files map[string]string) host.Host {
	t.Helper()
	all := map[string]string{}
	for name, text := range files {
		all["sys/class/infiniband/"+name] = text
	}
	return hosttest.Tree(t, all)
}

// prometheus/node_exporter#966, #974: a counter that reads "N/A (no PMA)" lost all of InfiniBand.
func TestField_nodeExporter_966(t *testing.T) {
	n := probe(t, ports(t, map[string]string{
		"mlx5_0/ports/1/rate": "400 Gb/sec (4X NDR)", "mlx5_0/ports/1/state": "4: ACTIVE", "mlx5_0/ports/1/link_layer": "InfiniBand",
		"mlx5_0/ports/1/counters/symbol_error": "N/A (no PMA)", "mlx5_0/ports/1/counters/port_rcv_errors": "3", "mlx5_0/ports/1/counters/port_rcv_data": "100",
	}))
	p := n.InfiniBand.Items[0]
	if p.Counters.SymbolErrors.IsKnown() || p.Counters.RxErrors.Value != 3 || p.Counters.RxBytes.Value != 400 || p.RateGbps.Value != 400 || p.State.Value != "ACTIVE" {
		t.Errorf("%+v", p)
	}
}

// prometheus/node_exporter#3265: a counter that gives EINVAL, on ports used for switching, hid every adapter.
func TestField_nodeExporter_3265(t *testing.T) {
	h := ports(t, map[string]string{
		"mlx5_0/ports/1/counters/link_downed": "7", "mlx5_1/ports/1/rate": "400 Gb/sec (4X NDR)", "mlx5_1/ports/1/counters/link_downed": "0",
	})
	name := filepath.Join(h.Root, "sys/class/infiniband/mlx5_0/ports/1/counters/link_downed")
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(name, 0o755); err != nil { // reading it fails with EINVAL
		t.Fatal(err)
	}
	list := probe(t, h).InfiniBand.Items
	if len(list) != 2 || list[0].Counters.LinkDowned.Unknown == "" || !list[1].Counters.LinkDowned.IsKnown() || list[1].RateGbps.Value != 400 {
		t.Errorf("%+v", list)
	}
}

// prometheus/node_exporter#2023: Omni-Path stands among the adapters and calls itself InfiniBand.
func TestField_nodeExporter_2023(t *testing.T) {
	list := probe(t, ports(t, map[string]string{
		"hfi1_0/ports/1/rate": "100 Gb/sec (4X EDR)", "hfi1_0/ports/1/state": "4: ACTIVE", "hfi1_0/ports/1/link_layer": "InfiniBand", "hfi1_0/board_id": "Intel Omni-Path HFI Adapter 100 Series",
	})).InfiniBand.Items
	if len(list) != 1 || list[0].Kind.Value != "Omni-Path" || list[0].RateGbps.Value != 100 || list[0].Name.Value != "hfi1_0" {
		t.Errorf("%+v", list)
	}
}

// prometheus/node_exporter#573, netdata/netdata#11991, #14747, treydock/infiniband_exporter#33, Atoptool/atop#354: data are counted in words
// of 4 bytes, over all lanes together.
func TestField_nodeExporter_573(t *testing.T) {
	list := probe(t, ports(t, map[string]string{
		"mlx5_0/ports/1/rate": "100 Gb/sec (4X EDR)", "mlx5_0/ports/1/counters/port_rcv_data": "3", "mlx5_0/ports/1/counters/port_xmit_data": "9223372036854775807",
	})).InfiniBand.Items
	if c := list[0].Counters; c.RxBytes.Value != 12 || c.TxBytes.IsKnown() {
		t.Errorf("%+v", c)
	}
}

// systemd/systemd#33076: 2.5 Gb/s are 2500 Mb/s, not 2 Gb/s.
func TestField_systemd_33076(t *testing.T) {
	files := map[string]string{}
	nicFiles(files, "enp1s0", "0000:01:00.0", "0x8086", "0x125c", "up", "2500")
	n := probe(t, hosttest.Tree(t, files))
	if n.Interfaces.Items[0].SpeedMbps.Value != 2500 || speedWord(2500) != "2.5GbE" {
		t.Errorf("%+v", n)
	}
}
