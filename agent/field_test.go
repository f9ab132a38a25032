package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/probes"
	"assay/result"
)

// bare is a machine with two GPUs whose driver is not installed.
type bare struct {
	t    *testing.T
	root string
}

func newBare(t *testing.T) bare {
	m := bare{t, t.TempDir()}
	m.write("proc/sys/kernel/osrelease", "6.8.0-45-generic\n")
	m.write("etc/os-release", "PRETTY_NAME=\"Ubuntu 24.04.1 LTS\"\n")
	for i := range 2 {
		m.write(onBus(i)+"vendor", "0x1002\n")
		m.write(onBus(i)+"device", "0x74a1\n")
		m.write(onBus(i)+"class", "0x120000\n")
	}
	return m
}

func onBus(gpu int) string { return fmt.Sprintf("sys/bus/pci/devices/0000:%02x:00.0/", 3+gpu) }

func (m bare) write(name, text string) {
	m.t.Helper()
	file := filepath.Join(m.root, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
		m.t.Fatal(err)
	}
}

// install puts the driver in.
func (m bare) install() {
	m.write("sys/module/amdgpu/version", "6.12.12\n")
	for i := range 2 {
		m.write(onBus(i)+"mem_info_vram_total", "206141652992\n")
	}
}

// once is a plan of one point.
func once(t *testing.T, a *Agent, server string, more ...string) result.Result {
	t.Helper()
	return execute(t, a, submit(t, a, sweepOf(t, server, append(more, "protocol.sweep.concurrency=1")...)))
}

// dstack#1465: a shim that looked for GPUs when it was started never saw a driver that was installed later. Every run looks anew.
func TestField_dstack_1465(t *testing.T) {
	t.Parallel()
	a, m := newAgent(t), newBare(t)
	a.Host = probes.Host{Root: m.root}
	_, url := startSim(t, quickSim("sim"))
	first := once(t, a, atURL(url)).SUT
	m.install()
	second := once(t, a, atURL(url)).SUT
	for name, c := range map[string]struct {
		sut       *probes.SUT
		installed bool
	}{"before": {first.Before, false}, "at the end of that run": {first.After, false}, "after": {second.Before, true}, "at the end of this run": {second.After, true}} {
		if c.sut == nil || len(c.sut.Accelerators.Items) != 2 {
			t.Fatalf("%s: %+v", name, c.sut)
		}
		for _, gpu := range c.sut.Accelerators.Items {
			if version, known := gpu.DriverVersion.Get(); known != c.installed || known && version != "6.12.12" || gpu.VRAMBytes.Value == 206141652992 != c.installed {
				t.Errorf("%s: driver %+v, memory %+v", name, gpu.DriverVersion, gpu.VRAMBytes)
			}
		}
	}
}

// llm-d-benchmark#157: a second run gave the data of the first, whose folder it was given too.
func TestField_llmdbenchmark_157(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	_, slow := startSim(t, quickSim("sim"))
	first := once(t, a, atURL(slow), "workload.sampling.max_tokens=8")
	before := contents(t, a.Store.RunDir(first.Run.ID))
	second := once(t, a, atURL(slow), "workload.sampling.max_tokens=24")
	if diff := cmp.Diff(before, contents(t, a.Store.RunDir(first.Run.ID))); diff != "" {
		t.Errorf("the second run wrote into the first one's folder:\n%s", diff)
	}
	if first.Run.ID == second.Run.ID || a.Store.RunDir(first.Run.ID) == a.Store.RunDir(second.Run.ID) {
		t.Fatalf("both are %s", first.Run.ID)
	}
	for r, tokens := range map[*result.Result]int64{&first: 8, &second: 24} {
		if p := r.Points[0]; p.Engine == nil || p.Engine.ClientTokens != p.Engine.GenerationTokens || p.Engine.ClientTokens < 5*tokens || p.Engine.ClientTokens >= 6*tokens { // one to be ready beside five
			t.Errorf("of %d tokens an answer: %+v", tokens, p.Engine)
		}
	}
	for name, text := range contents(t, a.Store.RunDir(second.Run.ID)) {
		if strings.Contains(text, first.Run.ID) {
			t.Errorf("%s of the second run names the first", name)
		}
	}
	if first.Points[0].Recording.SHA256 == second.Points[0].Recording.SHA256 {
		t.Error("both have one recording")
	}
}

// contents are the files of a folder, by name.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(file)
		files[strings.TrimPrefix(file, dir)] = string(b)
		return err
	})
	if err != nil || len(files) < 5 {
		t.Fatalf("%v: %v", files, err)
	}
	return files
}

// llm-d-benchmark#506: a report of a server that ran already lacked the host. The document and the report describe the machine, and say of what is
// not known that it is not, and why.
func TestField_llmdbenchmark_506(t *testing.T) {
	t.Parallel()
	a, m := newAgent(t), newBare(t)
	a.Host = probes.Host{Root: m.root}
	_, url := startSim(t, quickSim("sim"))
	r := once(t, a, atURL(url))
	for name, s := range map[string]*probes.SUT{"before": r.SUT.Before, "after": r.SUT.After} {
		if s == nil || s.OS.Distro.Value != "Ubuntu 24.04.1 LTS" || len(s.Accelerators.Items) != 2 {
			t.Fatalf("%s: %+v", name, s)
		}
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var doc any
		if err := json.Unmarshal(b, &doc); err != nil {
			t.Fatal(err)
		}
		if unknown := withoutReason(t, "sut", doc); unknown < 20 {
			t.Errorf("%s: of a machine that tells next to nothing %d facts are unknown", name, unknown)
		}
	}
	page, err := os.ReadFile(filepath.Join(a.Store.RunDir(r.Run.ID), result.ReportName))
	if err != nil || !strings.Contains(string(page), "Ubuntu 24.04.1 LTS") || !strings.Contains(string(page), r.SUT.Before.Accelerators.Items[0].Name.Value) {
		t.Errorf("the report lacks the machine: %v", err)
	}
}

// withoutReason counts the facts that are not known, each of which must say why.
func withoutReason(t *testing.T, path string, doc any) (unknown int) {
	t.Helper()
	switch v := doc.(type) {
	case map[string]any:
		if why, is := v["unknown"]; is {
			if why == "" || why == "not probed" {
				t.Errorf("%s is not known, and does not say why", path)
			}
			return 1
		}
		for name, one := range v {
			unknown += withoutReason(t, path+"."+name, one)
		}
	case []any:
		for _, one := range v {
			unknown += withoutReason(t, path+"[]", one)
		}
	case nil:
		t.Errorf("%s is empty", path)
	}
	return unknown
}

// llm-d-benchmark#347: a report named "auto" as its accelerator, which was what had been asked for. The document has both: the plan with what was
// asked for, and the machine with what is there, whatever came of the run (this machine may have no GPU to give).
func TestField_llmdbenchmark_347(t *testing.T) {
	t.Parallel()
	a, m := newAgent(t), newBare(t)
	m.install()
	a.Host = probes.Host{Root: m.root}
	r := once(t, a, asProcess, "server.gpus=all")
	var asked struct{ Server struct{ GPUs string } }
	if err := json.Unmarshal(r.Plan, &asked); err != nil || asked.Server.GPUs != "all" {
		t.Errorf("asked for %q, %v", asked.Server.GPUs, err)
	}
	if r.SUT.Before == nil || len(r.SUT.Before.Accelerators.Items) != 2 {
		t.Fatalf("%+v, %+v", r.Run.Error, r.SUT.Before)
	}
	for i, gpu := range r.SUT.Before.Accelerators.Items {
		if gpu.Name.Value != "AMD Instinct MI300X" || gpu.Name.Source == "" || gpu.PCI.Address.Value != strings.TrimSuffix(filepath.Base(onBus(i)), "/") {
			t.Errorf("%+v at %+v", gpu.Name, gpu.PCI.Address)
		}
	}
}
