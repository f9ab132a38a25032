package amd

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

// bus is where the devices of a made host lie.
const bus = "sys/bus/pci/devices/"

// files makes a host of files by their paths.
func files(t testing.TB, list map[string]string) host.Host {
	t.Helper()
	h := host.Host{Root: t.TempDir()}
	for name, text := range list {
		put(t, h, name, text)
	}
	return h
}

func put(t testing.TB, h host.Host, name, text string) {
	t.Helper()
	path := filepath.Join(h.Root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// probed reads a host.
func probed(t testing.TB, h host.Host) sut.SUT {
	t.Helper()
	var s sut.SUT
	if err := Probe(t.Context(), h, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// one reads a host of one GPU.
func one(t testing.TB, h host.Host) sut.Accelerator {
	t.Helper()
	s := probed(t, h)
	if len(s.Accelerators.Items) != 1 {
		t.Fatalf("%d accelerators: %s", len(s.Accelerators.Items), s.Accelerators.Unknown)
	}
	return s.Accelerators.Items[0]
}

// fixtures is the folder of public captures that lies beside a checkout of the project; tests that need it are skipped without it.
const fixtures = "../../../shared/fixtures/"

// captured makes a host of a folder of the public captures.
func captured(t testing.TB, name, to string) host.Host {
	t.Helper()
	if _, err := os.Stat(fixtures + name); err != nil {
		t.Skipf("no public captures here: %v", err)
	}
	h := host.Host{Root: t.TempDir()}
	if err := os.CopyFS(filepath.Join(h.Root, to), os.DirFS(fixtures+name)); err != nil {
		t.Fatal(err)
	}
	return h
}

// capturedCard is a card of the public captures.
func capturedCard(t testing.TB, name, card string) gpu {
	t.Helper()
	h := captured(t, name+"/"+card, "sys/class/drm/"+card)
	return gpu{h: h, card: pci.Device{Dir: "/sys/class/drm/" + card + "/device"}, top: readTopology(h)}.look()
}

// machine is a made host under construction: paths and texts.
type machine map[string]string

// card puts a device on the bus; more are files of it and their texts, one after the other.
func (m machine) card(address, id string, more ...string) machine {
	dir := bus + address + "/"
	m[dir+"vendor"], m[dir+"device"], m[dir+"class"] = "0x1002", id, "0x120000"
	for i := 0; i < len(more); i += 2 {
		m[dir+more[i]] = more[i+1]
	}
	return m
}

const nodes = "sys/class/kfd/kfd/topology/nodes/"

// node puts a node into the topology, with the properties of a die of MI300X unless they are given.
func (m machine) node(id int, properties string) machine {
	at := fmt.Sprintf("%s%d/", nodes, id)
	m[at+"properties"] = properties + "\nsimd_per_cu 4\nvendor_id 4098\ngfx_target_version 90402\n"
	m[at+"gpu_id"] = fmt.Sprint(1000 + id)
	return m
}

// bank gives a node memory.
func (m machine) bank(id int, bytes int64) machine {
	m[fmt.Sprintf("%s%d/mem_banks/0/properties", nodes, id)] = fmt.Sprintf("heap_type 1\nsize_in_bytes %d\n", bytes)
	return m
}

// joined links a node to another.
func (m machine) joined(from, to int, kind string, weight, mbs int) machine {
	m[fmt.Sprintf("%s%d/io_links/%d/properties", nodes, from, to)] = fmt.Sprintf("type %s\nnode_from %d\nnode_to %d\nweight %d\nmax_bandwidth %d\n", kind, from, to, weight, mbs)
	return m
}

// gpuAt is a node's properties: a device at a place of the bus with so many SIMD units in so many compute dies.
func gpuAt(id, location, simds, dies int) string {
	return fmt.Sprintf("cpu_cores_count 0\nsimd_count %d\ndevice_id %d\nlocation_id %d\ndomain 0\nnum_xcc %d\ndrm_render_minor %d\nunique_id %d", simds, id, location, dies, 128+location%64, 7000+location>>8)
}
