package network

import (
	"bufio"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/probes/host"
	"assay/probes/hosttest"
	"assay/probes/sut"
)

// tools answers commands with texts.
func tools(answers map[string]string) func(context.Context, ...string) (host.Output, error) {
	return func(_ context.Context, argv ...string) (host.Output, error) {
		if text, ok := answers[strings.Join(argv, " ")]; ok {
			return host.Output{Stdout: []byte(text)}, nil
		}
		return host.Output{}, host.ErrNotFound
	}
}

func probe(t *testing.T, h host.Host) sut.Network {
	t.Helper()
	var s sut.SUT
	if err := Probe(t.Context(), h, &s); err != nil {
		t.Fatal(err)
	}
	return s.Network
}

func TestLinkSpeed(t *testing.T) {
	for in, want := range map[string]int{"2500": 2500, "-1": 0, "0": 0, "4294967295": 0, "": 0, "x": 0} {
		if got, err := linkSpeed(in); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d %v", in, got, err)
		}
	}
}

const pciIDs = "14e4  Broadcom Inc. and subsidiaries\n\t165f  NetXtreme BCM5720 Gigabit Ethernet PCIe\n15b3  Mellanox Technologies\n\t1021  MT2910 Family [ConnectX-7]\n\t101d  MT2892 Family [ConnectX-6 Dx]\n10de  NVIDIA Corporation\n"

// nicFiles makes an interface of a device on the bus.
func nicFiles(files map[string]string, name, address, vendor, device, state, speed string) {
	dev := "sys/devices/pci0000:00/" + address
	files["sys/class/net/"+name] = "-> /" + dev + "/net/" + name
	files[dev+"/net/"+name+"/device"] = "-> ../.."
	for file, text := range map[string]string{"operstate": state, "speed": speed, "type": "1", "mtu": "9000"} {
		files[dev+"/net/"+name+"/"+file] = text
	}
	files[dev+"/vendor"], files[dev+"/device"], files[dev+"/numa_node"] = vendor, device, "1"
	files[dev+"/driver"] = "-> /sys/bus/pci/drivers/tg3"
	files["sys/bus/pci/drivers/tg3/new_id"] = ""
}

// TestInterfaces: two ports of a card in a bond with a VLAN on it, a virtual function, and the host's end of a container's link.
func TestInterfaces(t *testing.T) {
	files := map[string]string{"usr/share/misc/pci.ids": pciIDs}
	nicFiles(files, "eno1", "0000:01:00.0", "0x14e4", "0x165f", "up", "1000")
	nicFiles(files, "eno2", "0000:01:00.1", "0x14e4", "0x165f", "down", "-1")
	nicFiles(files, "ens1v0", "0000:02:00.2", "0x15b3", "0x101e", "down", "-1")
	files["sys/devices/pci0000:00/0000:02:00.2/physfn"] = "-> ../0000:02:00.0"
	files["sys/devices/pci0000:00/0000:02:00.0/vendor"] = "0x15b3"
	files["sys/devices/pci0000:00/0000:01:00.0/sriov_numvfs"] = "4"
	virtual := "sys/devices/virtual/net/"
	for name, kind := range map[string]string{"bond0": "bond", "bond0.100": "vlan", "veth1234": "", "lo": "", "enx001122aabbcc": ""} {
		files["sys/class/net/"+name] = "-> /" + virtual + name
		files[virtual+name+"/operstate"], files[virtual+name+"/uevent"] = "up", "DEVTYPE="+kind
	}
	files[virtual+"bond0/lower_eno1"] = "-> /sys/class/net/eno1"
	files[virtual+"bond0/lower_eno2"] = "-> /sys/class/net/eno2"
	files["sys/devices/pci0000:00/0000:01:00.0/net/eno1/master"] = "-> /" + virtual + "bond0"
	files[virtual+"bond0.100/lower_bond0"] = "-> /" + virtual + "bond0"
	h := hosttest.Tree(t, files)
	h.Exec = tools(map[string]string{
		"ethtool eno1":    "Settings for eno1:\n\tSupported ports: [ TP ]\n\tSupported link modes:   10baseT/Half 10baseT/Full\n\t                        1000baseT/Full\n\tSupported pause frame use: No\n\tAdvertised link modes:  400000baseSR8/Full\n",
		"ethtool -i eno1": "driver: tg3\nfirmware-version: FFV22.31.6 bc 5720-v1.39\nbus-info: 0000:01:00.0\n", "ethtool -i eno2": "driver: tg3\nfirmware-version: N/A\n",
	})
	n := probe(t, h)
	by := map[string]sut.NIC{}
	for _, nic := range n.Interfaces.Items {
		by[nic.Name.Value] = nic
	}
	e := by["eno1"]
	if e.Driver.Value != "tg3" || e.MTU.Value != 9000 || e.Master.Value != "bond0" || e.MaxMbps.Value != 1000 || e.Firmware.Value != "FFV22.31.6 bc 5720-v1.39" || e.PCI.Value != "0000:01:00.0" || e.NUMANode.Value != 1 || e.VFs.Value != 4 || e.NearGPUs.NA == "" {
		t.Errorf("%+v", e)
	}
	if f := by["eno2"]; f.Firmware.IsKnown() || f.MaxMbps.IsKnown() || f.SpeedMbps.IsKnown() || f.VFs.IsKnown() {
		t.Errorf("%+v", f)
	}
	if diff := cmp.Diff([]string{"eno1", "eno2"}, by["bond0"].Members.Value); diff != "" || by["bond0.100"].VLAN.Value != 100 || by["bond0.100"].Members.Value[0] != "bond0" || by["bond0"].MaxMbps.NA == "" {
		t.Errorf("%s %+v", diff, by["bond0.100"])
	}
	if by["ens1v0"].Kind.Value != "virtual function" || len(by) != 6 || !by["enx-mac"].Name.IsKnown() {
		t.Errorf("%+v", by)
	}
	if want := "2 × BCM5720 1GbE (one link up); no InfiniBand"; n.Summary.Value != "" && n.Summary.Value != strings.Replace(want, "no InfiniBand", "InfiniBand unknown", 1) {
		t.Errorf("%q", n.Summary.Value)
	}
}

// TestCarrier: where a driver keeps no operational state, as those of some virtual devices, the carrier tells whether the link is up.
func TestCarrier(t *testing.T) {
	for carrier, want := range map[string]string{"1": "true", "0": "false", "": "unknown"} {
		files := map[string]string{}
		nicFiles(files, "ib0", "0000:01:00.0", "0x15b3", "0x1021", "unknown", "100000")
		files["sys/devices/pci0000:00/0000:01:00.0/net/ib0/carrier"] = carrier
		up := probe(t, hosttest.Tree(t, files)).Interfaces.Items[0].Up
		got := "unknown"
		if up.IsKnown() {
			got = fmt.Sprint(up.Value)
		}
		if got != want {
			t.Errorf("%q: %+v", carrier, up)
		}
	}
}

// TestNearOtherVendors: accelerators of vendors without a probe of their own are near a port too, unless there are others.
func TestNearOtherVendors(t *testing.T) {
	files := map[string]string{}
	nicFiles(files, "eno1", "0000:01:00.0", "0x14e4", "0x165f", "up", "1000")
	card := func(address, vendor, class string) {
		dev := "sys/devices/pci0000:00/" + address
		files["sys/bus/pci/devices/"+address] = "-> /" + dev
		files[dev+"/vendor"], files[dev+"/class"] = vendor, class
	}
	card("0000:00:05.0", "0x1da3", "0x120000")
	if near := probe(t, hosttest.Tree(t, files)).Interfaces.Items[0].NearGPUs; !slices.Equal(near.Value, []string{"0000:00:05.0"}) {
		t.Errorf("%+v", near)
	}
	card("0000:00:06.0", "0x1002", "0x120000")
	if near := probe(t, hosttest.Tree(t, files)).Interfaces.Items[0].NearGPUs; !slices.Equal(near.Value, []string{"0000:00:06.0"}) {
		t.Errorf("%+v", near)
	}
}

func TestSummaryWords(t *testing.T) {
	nic := func(model string, up bool, mbps int) sut.NIC {
		return sut.NIC{Kind: sut.Known("ethernet", "t"), Model: sut.Known(model, "t"), Up: sut.Known(up, "t"), MaxMbps: sut.Known(mbps, "t")}
	}
	port := func(kind string, state string, rate float64) sut.InfiniBand {
		return sut.InfiniBand{Kind: sut.Known(kind, "t"), Model: sut.Known("ConnectX-7", "t"), State: sut.Known(state, "t"), RateGbps: sut.Known(rate, "t")}
	}
	broadcom, mellanox := "Broadcom Inc. and subsidiaries NetXtreme BCM5720 Gigabit Ethernet PCIe", "Mellanox Technologies MT2910 Family [ConnectX-7]"
	for want, n := range map[string]sut.Network{
		"2 × BCM5720 1GbE (one link up); no InfiniBand": {Interfaces: sut.List[sut.NIC]{Items: []sut.NIC{nic(broadcom, true, 1000), nic(broadcom, false, 1000)}}},
		"1 × ConnectX-7 400GbE (no link up); 2 × ConnectX-7 InfiniBand 400 Gb/s (all links up)": {Interfaces: sut.List[sut.NIC]{Items: []sut.NIC{nic(mellanox, false, 400000)}},
			InfiniBand: sut.List[sut.InfiniBand]{Items: []sut.InfiniBand{port("InfiniBand", "ACTIVE", 400), port("InfiniBand", "ACTIVE", 400)}}},
		"3 × I226-V 2.5GbE (2 links up); 1 × ConnectX-7 RoCE 200 Gb/s (no link up); no InfiniBand": {Interfaces: sut.List[sut.NIC]{Items: []sut.NIC{nic("Intel Corporation Ethernet Controller I226-V", true, 2500), nic("Intel Corporation Ethernet Controller I226-V", true, 2500), nic("Intel Corporation Ethernet Controller I226-V", false, 2500)}},
			InfiniBand: sut.List[sut.InfiniBand]{Items: []sut.InfiniBand{port("RoCE", "DOWN", 200)}}},
		"no Ethernet device; no InfiniBand": {},
	} {
		if got := summary(n); got.Value != want {
			t.Errorf("%q, want %q", got.Value, want)
		}
	}
}

const captured = "../../../shared/fixtures"

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(captured, name))
	if err != nil {
		t.Skipf("no public captures here: %v", err)
	}
	return b
}

// TestRealInfiniBand reads a node of 12 adapters, and one of another maker's driver.
func TestRealInfiniBand(t *testing.T) {
	fixture(t, "INDEX.md")
	n := probe(t, host.Host{Root: filepath.Join(captured, "system/ib-h100-x12hca")})
	active := 0
	for _, p := range n.InfiniBand.Items {
		if p.Kind.Value == "InfiniBand" && p.State.Value == "ACTIVE" && p.PhysState.Value == "LinkUp" && p.RateGbps.Value == 400 && p.Model.Value == "ConnectX-7" && p.Firmware.Value == "28.41.1000" {
			active++
		}
		switch p.Name.Value {
		case "mlx5_bond_0":
			if p.LinkLayer.Value != "Ethernet" || p.Kind.Value != "RoCE" || p.Model.Value != "BlueField-3" || p.RateGbps.Value != 200 {
				t.Errorf("%+v", p)
			}
		case "mlx5_1":
			if p.Counters.LinkDowned.IsKnown() || !strings.Contains(p.Counters.LinkDowned.Unknown, "255, the most it can count") {
				t.Errorf("a counter that is full: %+v", p.Counters)
			}
		}
	}
	if active != 8 {
		t.Errorf("%d active ports of 400 Gb/s: %+v", active, n.InfiniBand)
	}
	small := probe(t, host.Host{Root: filepath.Join(captured, "system/procfs-ib-mlx5_0")}).InfiniBand.Items
	if len(small) != 1 || small[0].Model.Value != "ConnectX-4 Lx VF" || small[0].Board.Value != "SM_2001000001034" || !small[0].Counters.RxBytes.IsKnown() {
		t.Errorf("%+v", small)
	}
}

// TestRealTools reads what ibstat and rdma printed on nodes whose kernel's files nobody kept.
func TestRealTools(t *testing.T) {
	for name, want := range map[string][3]int{ // ports, active, of 400 Gb/s
		"ibstat.47.0.h100.all.active.0.txt": {12, 12, 8}, "ibstat.47.0.h100.some.down.1.txt": {12, 10, 6}, "ibstat.39.0.a100.failed.ibpanic.exit-255.0.txt": {8, 8, 0},
	} {
		h := host.Host{Root: t.TempDir(), Exec: tools(map[string]string{"ibstat": string(fixture(t, "system/ibstat-gpud/"+name))})}
		var got [3]int
		for _, p := range probe(t, h).InfiniBand.Items {
			got[0]++
			if p.State.Value == "ACTIVE" {
				got[1]++
			}
			if p.RateGbps.Value == 400 {
				got[2]++
			}
			if p.Model.Value == "" || p.Firmware.Value == "" || p.LinkLayer.Value == "" {
				t.Errorf("%s: %+v", name, p)
			}
		}
		if got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	list := parseRDMA(fixture(t, "system/rdma-json/rdma_link_example_data.json"))
	if len(list) < 4 || list[0].Name.Value != "ionic_0" || list[0].State.Value != "ACTIVE" || list[0].PhysState.Value != "LINK_UP" || list[0].NetDev.Value != "benic8p1" || list[0].Kind.Value != "RoCE" {
		t.Errorf("%+v", list)
	}
	list = parseRDMA(fixture(t, "amd/pensando-ainic/rdma_link.txt"))
	if len(list) != 3 || list[2].Name.Value != "ionic_1" || list[2].NetDev.Value != "enp132s0v0" {
		t.Errorf("%+v", list)
	}
}

// TestRealPollara: the list of PCI ids knows the chip of an AMD AI NIC, its tool the card.
func TestRealPollara(t *testing.T) {
	files := map[string]string{}
	nicFiles(files, "enp68s0", "0000:44:00.0", "0x1dd8", "0x1002", "up", "400000")
	files["sys/devices/pci0000:00/0000:44:00.0/driver"] = "-> /sys/bus/pci/drivers/ionic"
	files["sys/bus/pci/drivers/ionic/new_id"] = ""
	h := hosttest.Tree(t, files)
	h.Exec = tools(map[string]string{"nicctl show card -j": string(fixture(t, "amd/pensando-ainic/nicctl_show_card_j.txt"))})
	n := probe(t, h)
	if nic := n.Interfaces.Items[0]; nic.Model.Value != "AMD POLLARA 1x400G QSFP112" || nic.Firmware.Value != "1.117.1-a-7" || strings.Contains(n.Summary.Value, "unknown name") {
		t.Errorf("%+v %q", nic, n.Summary.Value)
	}
}

// lspciTree turns the text of `lspci -vvv` into the kernel's tree: bridges by the buses behind them, and the devices on those.
func lspciTree(t *testing.T, text string, files map[string]string) {
	t.Helper()
	head := regexp.MustCompile(`^([0-9a-f]{2}):([0-9a-f]{2}\.[0-7]) ([^:]+): (.*)`)
	bus := regexp.MustCompile(`Bus: primary=\w+, secondary=(\w+),`)
	above := map[string]string{} // bus → directory of the bridge before it
	var dir string
	for line := range strings.Lines(text) {
		if m := head.FindStringSubmatch(line); m != nil {
			parent := above[m[1]]
			if parent == "" {
				parent = "sys/devices/pci0000:" + m[1]
			}
			address := "0000:" + m[1] + ":" + m[2]
			dir = parent + "/" + address
			files["sys/bus/pci/devices/"+address] = "-> /" + dir
			files[dir+"/class"], files[dir+"/vendor"] = "0x000000", "0x0000"
			switch {
			case strings.Contains(m[4], "NVIDIA") && m[3] == "3D controller":
				files[dir+"/class"], files[dir+"/vendor"] = "0x030200", "0x10de"
			case m[3] == "Ethernet controller":
				name := "e" + m[1] + strings.ReplaceAll(m[2], ".", "f")
				ids := map[bool][2]string{true: {"0x15b3", "0x1021"}, false: {"0x14e4", "0x165f"}}[strings.Contains(m[4], "Mellanox")]
				if strings.Contains(m[4], "ConnectX-6") {
					ids[1] = "0x101d"
				}
				files[dir+"/vendor"], files[dir+"/device"] = ids[0], ids[1]
				files["sys/class/net/"+name] = "-> /" + dir + "/net/" + name
				files[dir+"/net/"+name+"/type"], files[dir+"/net/"+name+"/operstate"], files[dir+"/net/"+name+"/device"] = "1", "up", "-> ../.."
			}
		}
		if m := bus.FindStringSubmatch(line); m != nil {
			above[m[1]] = dir
		}
		if _, node, ok := strings.Cut(line, "NUMA node: "); ok {
			files[dir+"/numa_node"] = strings.TrimSpace(node)
		}
	}
}

// TestRealAffinity: on a node of 8 GPUs each has its ConnectX-7 behind the same switch, and the management ports are far from all.
func TestRealAffinity(t *testing.T) {
	fixture(t, "INDEX.md")
	f, err := os.Open(filepath.Join(captured, "system/xe9680-h100-x8/lspci-vvv.txt.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zr, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for s := bufio.NewScanner(zr); s.Scan(); {
		text.WriteString(s.Text() + "\n")
	}
	files := map[string]string{"usr/share/hwdata/pci.ids": pciIDs}
	lspciTree(t, text.String(), files)
	n := probe(t, hosttest.Tree(t, files))
	want := map[string]string{ // GPU → its ConnectX-7
		"0000:19:00.0": "0000:1a:00.0", "0000:3b:00.0": "0000:3c:00.0", "0000:4c:00.0": "0000:4d:00.0", "0000:5d:00.0": "0000:5e:00.0",
		"0000:9b:00.0": "0000:9c:00.0", "0000:bb:00.0": "0000:bc:00.0", "0000:cb:00.0": "0000:cc:00.0", "0000:db:00.0": "0000:dc:00.0",
	}
	got := map[string]string{}
	for _, nic := range n.Interfaces.Items {
		if strings.Contains(nic.Model.Value, "ConnectX-7") && nic.GPUDistance.Value == "PIX" && len(nic.NearGPUs.Value) == 1 {
			got[nic.NearGPUs.Value[0]] = nic.PCI.Value
		}
		if strings.Contains(nic.Model.Value, "BCM5720") && (nic.GPUDistance.Value != "NODE" || len(nic.NearGPUs.Value) != 4) {
			t.Errorf("%+v", nic)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if want := "8 × ConnectX-7 (all links up); 4 × ConnectX-6 Dx (all links up); 2 × BCM5720 (all links up); InfiniBand unknown"; n.Summary.Value != want {
		t.Errorf("%q", n.Summary.Value)
	}
}

func TestDistance(t *testing.T) {
	way := func(s string) []string { return strings.Fields(s) }
	for _, c := range []struct{ a, b, nodes, want string }{
		{"pci0000:15 0000:15:01.0 0000:16:00.0 0000:17:01.0 0000:19:00.0", "pci0000:15 0000:15:01.0 0000:16:00.0 0000:17:02.0 0000:1a:00.0", "0 0", "PIX"},
		{"pci0000:15 0000:15:01.0 0000:16:00.0 0000:17:01.0 0000:19:00.0", "pci0000:15 0000:15:01.0 0000:20:00.0 0000:21:00.0 0000:22:00.0", "0 0", "PXB"},
		{"pci0000:15 0000:15:01.0 0000:19:00.0", "pci0000:15 0000:15:02.0 0000:1a:00.0", "0 0", "PHB"},
		{"pci0000:15 0000:15:01.0 0000:19:00.0", "pci0000:25 0000:25:01.0 0000:26:00.0", "0 0", "NODE"},
		{"pci0000:15 0000:15:01.0 0000:19:00.0", "pci0000:25 0000:25:01.0 0000:26:00.0", "0 1", "SYS"},
		{"pci0000:15 0000:15:01.0 0000:19:00.0", "pci0000:25 0000:25:01.0 0000:26:00.0", "0 -1", ""},
		{"", "pci0000:25 0000:25:01.0", "0 0", ""},
	} {
		nodes := strings.Fields(c.nodes)
		if got := distance(way(c.a), way(c.b), nodes[0], nodes[1]); got != c.want {
			t.Errorf("%s | %s: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

func FuzzTools(f *testing.F) {
	f.Add([]byte("CA 'mlx5_0'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Active\n\t\tRate: 400\n"))
	f.Add([]byte(`[{"ifname":"ionic_0","port":1,"state":"ACTIVE"}]`))
	f.Add([]byte("link a/1 state ACTIVE netdev b"))
	f.Add([]byte(`{"nic":[{"product_name":"x","eth_bdf":"0000:44:00.0"}]}`))
	f.Add([]byte("Supported link modes: 1000baseT/Full\nx: y"))
	f.Add([]byte("eth0.5 | 5 | eth0"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, p := range append(parseIbstat(b), parseRDMA(b)...) {
			if p.RateGbps.IsKnown() && p.RateGbps.Value <= 0 || !p.Name.IsKnown() {
				t.Errorf("%+v", p)
			}
		}
		if most := parseModes(string(b)); most < 0 {
			t.Error(most)
		}
		if n, err := parseCounter(string(b)); err == nil && n < 0 {
			t.Error(n)
		}
		parseNicctl(b)
		vlanID(string(b), "eth0.5")
	})
}

// TestHiddenClasses: where no class of devices can be read, that there is no adapter is not said.
func TestHiddenClasses(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		none  bool
	}{
		"no adapter": {map[string]string{"sys/class/net/lo/mtu": "65536"}, true},
		"hidden":     {map[string]string{"proc/uptime": "1"}, false},
	} {
		h := hosttest.Tree(t, tt.files)
		h.Live = true
		if got := readPorts(t.Context(), h, nil); (got.Unknown == "") != tt.none || len(got.Items) > 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
