package gpu

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/google/go-cmp/cmp"

	"assay/containers/enginetest"
)

// nvidiaCDI is what nvidia-ctk writes, shortened to three devices.
const nvidiaCDI = `---
cdiVersion: 0.5.0
containerEdits:
  deviceNodes:
  - path: /dev/nvidiactl
  hooks:
  - args:
    - nvidia-cdi-hook
    hookName: createContainer
    path: /usr/bin/nvidia-cdi-hook
  mounts:
  - containerPath: /usr/bin/nvidia-smi
    hostPath: /usr/bin/nvidia-smi
devices:
- containerEdits:
    deviceNodes:
    - path: /dev/nvidia7
    hooks:
    - args: [a]
      path: /usr/bin/nvidia-cdi-hook
  name: "0"
- containerEdits:
    deviceNodes:
    - path: /dev/nvidia6
  name: "1"
- containerEdits:
    deviceNodes:
    - path: /dev/nvidia7
    - path: /dev/nvidia6
  name: all
kind: nvidia.com/gpu
`

const amdCDI = `{"cdiVersion":"0.6.0","kind":"amd.com/gpu","devices":[
 {"name":"0","containerEdits":{"deviceNodes":[{"path":"/dev/kfd"},{"path":"/dev/dri/card1"},{"path":"/dev/dri/renderD992"}]}},
 {"name":"1","containerEdits":{"deviceNodes":[{"path":"/dev/kfd"},{"path":"/dev/dri/card2"},{"path":"/dev/dri/renderD993"}]}}]}`

// alias is a second name of the first device.
const alias = ` {"name":"first","containerEdits":{"deviceNodes":[{"path":"/dev/kfd"},{"path":"/dev/dri/renderD992"}]}},
`

// with is a machine with a specification in /etc/cdi.
func with(machine map[string]string, file, text string) map[string]string {
	m := maps.Clone(machine)
	m["etc/cdi/"+file] = text
	return m
}

func request(driver string, ids ...string) []container.DeviceRequest {
	r := container.DeviceRequest{Driver: driver, DeviceIDs: ids}
	if driver == "nvidia" {
		r.Capabilities = [][]string{{"gpu", "compute", "utility"}}
	}
	return []container.DeviceRequest{r}
}

func TestAccess(t *testing.T) {
	cdi, byUUID := Engine{CDI: true}, with(hgx(), "nvidia.yaml", strings.ReplaceAll(nvidiaCDI, "name: all", "name: "+uuidOf(0)))
	off := Engine{WhyNot: "CDI is turned off"}
	for _, c := range []struct {
		name, wanted, how string
		machine           map[string]string
		engine            Engine
		by, devices, code string
		requests          []container.DeviceRequest
	}{
		{"NVIDIA by UUID", "7,0", "auto", hgx(), off, "driver", "", "", request("nvidia", uuidOf(7), uuidOf(0))},
		{"all are named too", "all", "", hgx(), off, "driver", "", "", request("nvidia", uuidOf(0), uuidOf(1), uuidOf(2), uuidOf(3), uuidOf(4), uuidOf(5), uuidOf(6), uuidOf(7))},
		{"without UUIDs by the order of the bus", "7", "", unused(), off, "driver", "", "", request("nvidia", "7")},
		{"CDI by the device files", "1", "auto", with(hgx(), "nvidia.yaml", nvidiaCDI), cdi, "cdi", "", "", request("cdi", "nvidia.com/gpu=1")},
		{"CDI by UUID", "0", "auto", byUUID, cdi, "cdi", "", "", request("cdi", "nvidia.com/gpu="+uuidOf(0))},
		{"CDI that does not describe it", "2", "auto", byUUID, cdi, "driver", "", "", request("nvidia", uuidOf(2))},
		{"CDI that does not describe it, asked for", "2", "cdi", byUUID, cdi, "", "", "preflight.cdi_unavailable", nil},
		{"CDI that the engine has not read yet", "1", "cdi", byUUID, Engine{CDI: true, Discovered: []string{"nvidia.com/gpu=0"}}, "", "", "preflight.cdi_unavailable", nil},
		{"CDI that is turned off, asked for", "1", "cdi", byUUID, off, "", "", "preflight.cdi_unavailable", nil},
		{"the driver, asked for", "1", "driver", byUUID, cdi, "driver", "", "", request("nvidia", uuidOf(1))},
		{"an engine that has CDI alone", "1", "", hgx(), Engine{CDI: true, OnlyCDI: true}, "", "", "preflight.cdi_unavailable", nil},
		{"AMD by its files", "9,0", "", radeon(), off, "device files", "/dev/kfd /dev/dri/renderD1001 /dev/dri/renderD992", "", nil},
		{"AMD by CDI", "0", "", with(radeon(), "amd.json", amdCDI), cdi, "cdi", "", "", request("cdi", "amd.com/gpu=0")},
		{"AMD by CDI, under two names", "0", "", with(radeon(), "amd.json", strings.Replace(amdCDI, "[\n", "[\n"+alias, 1)), cdi, "cdi", "", "", request("cdi", "amd.com/gpu=first")},
		{"AMD by files where CDI describes less", "0,2", "", with(radeon(), "amd.json", amdCDI), cdi, "device files", "/dev/kfd /dev/dri/renderD992 /dev/dri/renderD994", "", nil},
		{"none", "none", "", hgx(), cdi, "", "", "", nil},
		{"all of a machine whose bus is not seen", "all", "", map[string]string{"dev/nvidiactl": ""}, off, "driver", "", "", []container.DeviceRequest{{Driver: "nvidia", Count: -1, Capabilities: [][]string{{"gpu", "compute", "utility"}}}}},
		{"all of a machine without", "all", "", map[string]string{"dev/null": ""}, off, "", "", "", nil},
	} {
		root := tree(t, c.machine)
		chosen, err := Choose(root, c.wanted)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		a, err := For(root, c.how, chosen, c.engine)
		if c.code != "" {
			enginetest.WantFault(t, err, c.code)
			continue
		}
		if err != nil || a.By != c.by || strings.Join(a.Devices, " ") != c.devices {
			t.Errorf("%s: %+v, %v", c.name, a, err)
		}
		if d := cmp.Diff(c.requests, a.Requests); d != "" {
			t.Errorf("%s:\n%s", c.name, d)
		}
		if chosen.Of(AMD) && (len(a.Groups) != 1 || !a.Ptrace) {
			t.Errorf("%s: groups %v, ptrace %v", c.name, a.Groups, a.Ptrace)
		}
	}
	missing := radeon()
	delete(missing, "dev/dri/renderD992")
	root := tree(t, missing)
	chosen, err := Choose(root, "0")
	if err != nil {
		t.Fatal(err)
	}
	_, err = For(root, "", chosen, off)
	enginetest.WantFault(t, err, "preflight.no_gpu", "/dev/dri/renderD992")
}

// TestGroups: those of the device files, by number and each once, not their owners.
func TestGroups(t *testing.T) {
	root := tree(t, radeon())
	for file, group := range map[string]int{"dev/kfd": 4321, "dev/dri/renderD992": 4322, "dev/dri/renderD993": 4321} {
		if err := os.Chown(filepath.Join(root, file), -1, group); err != nil {
			t.Skipf("only root gives files to groups: %v", err)
		}
	}
	chosen, err := Choose(root, "0,1")
	if err != nil {
		t.Fatal(err)
	}
	if a, err := For(root, "", chosen, Engine{}); err != nil || strings.Join(a.Groups, " ") != "4321 4322" {
		t.Errorf("%v, %v", a.Groups, err)
	}
}

// nvidia-container-toolkit#48, #1227: what the driver's hook has put into a container is gone when systemd reloads its units; what CDI has
// stands in the container's own configuration. So CDI is taken wherever the engine has it and a specification describes the devices.
func TestField_nvidiacontainertoolkit_48(t *testing.T) {
	root := tree(t, with(hgx(), "nvidia.yaml", nvidiaCDI))
	c, err := Choose(root, "0,1")
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"", "auto", "cdi"} {
		a, err := For(root, how, c, Engine{CDI: true})
		if err != nil || a.By != "cdi" || len(a.Requests) != 1 || a.Requests[0].Driver != "cdi" || a.Requests[0].Count != 0 || len(a.Requests[0].Capabilities) != 0 {
			t.Errorf("%q: %+v, %v", how, a, err)
		}
	}
}

func TestElsewhere(t *testing.T) {
	for _, c := range []struct {
		wanted string
		nvidia bool
		count  int
		ids    int
		code   string
	}{
		{"all", true, -1, 0, ""}, {"all", false, 0, 0, ""}, {"none", true, 0, 0, ""}, {"count:2", false, 2, 0, ""},
		{uuidOf(1) + ", " + uuidOf(2), true, 0, 2, ""}, {"0", true, 0, 0, "preflight.gpu_elsewhere"}, {"count:x", true, 0, 0, "plan.gpus_invalid"},
	} {
		a, err := Elsewhere(c.wanted, c.nvidia)
		if c.code != "" {
			enginetest.WantFault(t, err, c.code)
			continue
		}
		var got container.DeviceRequest
		if len(a.Requests) > 0 {
			got = a.Requests[0]
		}
		if err != nil || got.Count != c.count || len(got.DeviceIDs) != c.ids {
			t.Errorf("%q: %+v, %v", c.wanted, a, err)
		}
	}
}

func TestParseCDI(t *testing.T) {
	want := cdiSpec{"nvidia.com/gpu", []cdiDevice{{"0", []string{"/dev/nvidia7"}}, {"1", []string{"/dev/nvidia6"}}, {"all", []string{"/dev/nvidia7", "/dev/nvidia6"}}}}
	if d := cmp.Diff(want, parseCDI([]byte(nvidiaCDI)), cmp.AllowUnexported(cdiSpec{}, cdiDevice{})); d != "" {
		t.Error(d)
	}
	if s := parseCDI([]byte(amdCDI)); s.kind != "amd.com/gpu" || len(s.devices) != 2 || len(s.devices[1].files) != 3 {
		t.Errorf("%+v", s)
	}
	indented := "kind: vendor.com/gpu\ndevices:\n  - name: first\n    containerEdits:\n      deviceNodes:\n        - path: /dev/dri/renderD128\n  - name: second\n"
	if s := parseCDI([]byte(indented)); len(s.devices) != 2 || s.devices[0].name != "first" || s.devices[1].name != "second" || len(s.devices[0].files) != 1 {
		t.Errorf("%+v", s)
	}
}

func FuzzParseCDI(f *testing.F) {
	for _, seed := range []string{nvidiaCDI, amdCDI, "kind: a\ndevices:\n- name: b\n", "devices:\n  path: /dev/x", "- - -", "\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := parseCDI(b)
		for _, d := range s.devices {
			if len(d.files) > len(b) {
				t.Error("more files than bytes")
			}
		}
	})
}
