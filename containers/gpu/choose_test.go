package gpu

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/containers/enginetest"
)

func addresses(c Choice) string {
	var list []string
	for _, d := range c.Devices {
		list = append(list, strings.TrimSuffix(strings.TrimPrefix(d.PCI, "0000:"), ":00.0"))
	}
	return strings.Join(append(list, c.Parts...), " ")
}

func TestChoose(t *testing.T) {
	h100, mi300, none := tree(t, hgx()), tree(t, radeon()), t.TempDir()
	const slice = "MIG-00000000-4000-8000-0000-000000000001"
	for _, c := range []struct{ root, wanted, want, code string }{
		{h100, "", "", ""},
		{h100, "none", "", ""},
		{h100, "all", "19 3b 4c 5d 9b bb cb db", ""},
		{h100, "0", "19", ""},
		{h100, "7, 0", "db 19", ""},
		{h100, "0-2,5", "19 3b 4c bb", ""},
		{h100, "count:2", "19 3b", ""},
		{h100, "0000:5D:00.0,bb:00.0", "5d bb", ""},
		{h100, "00000000:5d:00.0", "5d", ""},
		{h100, uuidOf(3), "5d", ""},
		{h100, strings.ToLower(uuidOf(3)[:4]) + uuidOf(3)[4:], "", "plan.gpus_invalid"},
		{h100, slice, slice, ""},
		{h100, "8", "", "preflight.no_gpu"},
		{h100, "count:9", "", "preflight.no_gpu"},
		{h100, "5e:00.0", "", "preflight.no_gpu"},
		{h100, uuidOf(8), "", "preflight.no_gpu"},
		{h100, "first", "", "plan.gpus_invalid"},
		{h100, "3-1", "", "plan.gpus_invalid"},
		{h100, "0-99999", "", "plan.gpus_invalid"},
		{h100, "0,0-1", "", "plan.gpus_invalid"},
		{h100, "0,19:00.0", "", "plan.gpus_invalid"},
		{h100, slice + "," + slice, "", "plan.gpus_invalid"},
		{h100, "count:0", "", "plan.gpus_invalid"},
		{mi300, "9, 0", "a0 10", ""},
		{mi300, "GPU-f000000000000003", "40", ""},
		{mi300, slice, "", "preflight.no_gpu"},
		{none, "all", "", ""},
		{none, "none", "", ""},
		{none, "0", "", "preflight.no_gpu"},
		{none, "count:1", "", "preflight.no_gpu"},
	} {
		got, err := Choose(c.root, c.wanted)
		if c.code != "" {
			enginetest.WantFault(t, err, c.code)
			continue
		}
		if err != nil || addresses(got) != c.want {
			t.Errorf("%q: %q, %v, want %q", c.wanted, addresses(got), err, c.want)
		}
	}
	_, err := Choose(mi300, "10")
	enginetest.WantFault(t, err, "preflight.no_gpu", "GPU 10", "has 10", "9 is 0000:a0:00.0 GPU-f000000000000009")
}

// TestOtherDrivers: a device that was given to a virtual machine is no GPU of this one.
func TestOtherDrivers(t *testing.T) {
	for address, m := range map[string]map[string]string{"0000:10:00.0": radeon(), "0000:19:00.0": hgx()} {
		before := len(List(tree(t, m)))
		m["sys/bus/pci/devices/"+address+"/driver"] = "-> ../../../bus/pci/drivers/vfio-pci"
		if after := len(List(tree(t, m))); after != before-1 {
			t.Errorf("%s: %d GPUs of %d", address, after, before)
		}
	}
}

func TestNUMANodes(t *testing.T) {
	h100 := tree(t, hgx())
	for wanted, want := range map[string][]int{"0": {0}, "7,0": {0, 1}, "4-7": {1}, "none": nil} {
		c, err := Choose(h100, wanted)
		if err != nil || !slices.Equal(c.NUMANodes(), want) {
			t.Errorf("%q: %v, %v", wanted, c.NUMANodes(), err)
		}
	}
}

// TestDividedGPUs: a GPU is the device on the bus, and brings all its partitions.
func TestDividedGPUs(t *testing.T) {
	root := divided(t, true)
	here := List(root)
	if len(here) != 8 {
		t.Fatalf("%d GPUs", len(here))
	}
	nodes := map[string]bool{}
	for _, d := range here {
		if len(d.Files) < 7 || len(d.Files) > 8 || len(d.agents) != len(d.Files) || d.UUID == "" {
			t.Errorf("%+v", d)
		}
		for _, f := range d.Files {
			nodes[f] = true
		}
	}
	if len(nodes) != 63 {
		t.Errorf("%d render nodes", len(nodes))
	}
	c, err := Choose(root, "1")
	if err != nil {
		t.Fatal(err)
	}
	a, err := For(root, "auto", c, Engine{WhyNot: "no"})
	if err != nil || len(a.Devices) != 1+len(here[1].Files) || a.Devices[0] != "/dev/kfd" {
		t.Errorf("%+v, %v", a, err)
	}
	if visible := c.Visible()["ROCR_VISIBLE_DEVICES"]; len(strings.Split(visible, ",")) != len(here[1].Files) || strings.Contains(visible, "GPU-") {
		t.Errorf("parts of a GPU share its UUID, they are named by place: %q", visible)
	}
}

// TestDividedWithoutTopology: which partition belongs to which GPU is not told then, so that only all together can be given.
func TestDividedWithoutTopology(t *testing.T) {
	root := divided(t, false)
	_, err := Choose(root, "1")
	enginetest.WantFault(t, err, "preflight.gpu_partitions", "renderD")
	c, err := Choose(root, "all")
	if err != nil {
		t.Fatal(err)
	}
	a, err := For(root, "", c, Engine{WhyNot: "no"})
	if err != nil || len(a.Devices) != 1+63 {
		t.Errorf("%d files, %v", len(a.Devices), err)
	}
}

func TestVisible(t *testing.T) {
	both := hgx()
	maps.Copy(both, radeon())
	for _, c := range []struct {
		name, wanted string
		machine      map[string]string
		want         map[string]string
	}{
		{"by UUID", "7,0", hgx(), map[string]string{"CUDA_VISIBLE_DEVICES": uuidOf(7) + "," + uuidOf(0)}},
		{"by the order of the bus, where no UUID is told", "7,0", unused(), map[string]string{"CUDA_VISIBLE_DEVICES": "7,0", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}},
		{"none", "none", hgx(), map[string]string{"CUDA_VISIBLE_DEVICES": ""}},
		{"AMD", "9", radeon(), map[string]string{"ROCR_VISIBLE_DEVICES": "GPU-f000000000000009"}},
		{"those of one vendor hide the other's", "1", both, map[string]string{"CUDA_VISIBLE_DEVICES": uuidOf(0), "ROCR_VISIBLE_DEVICES": ""}},
		{"no GPUs", "all", nil, map[string]string{}},
	} {
		got, err := Choose(tree(t, c.machine), c.wanted)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if d := cmp.Diff(c.want, got.Visible()); d != "" {
			t.Errorf("%s:\n%s", c.name, d)
		}
	}
}

func FuzzChoose(f *testing.F) {
	for _, seed := range []string{"all", "0-3", "count:2", "c1:00.0", uuidOf(1), "0,,1", "-", "count:-1", "0-", "MIG-1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, wanted string) {
		c, err := Choose(t.TempDir(), wanted)
		if err == nil && len(c.Devices) > 0 {
			t.Errorf("%q gives %+v on a machine without GPUs", wanted, c.Devices)
		}
	})
}
