package node

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/agent/nodetest"
	"assay/fault"
	"assay/plan"
	"assay/probes"
	"assay/result"
	"assay/store"
)

const gibi = int64(1) << 30

func look(t testing.TB, m *nodetest.Machine) probes.SUT {
	t.Helper()
	return probes.Read(t.Context(), m.Host(), probes.Program{})
}

// reading reads a machine at each look.
func reading(m *nodetest.Machine) func(context.Context) probes.SUT {
	return func(ctx context.Context) probes.SUT { return probes.Read(ctx, m.Host(), probes.Program{}) }
}

// brief is a mark in one line.
func brief(marks []result.Mark) string {
	var lines []string
	for _, m := range marks {
		lines = append(lines, string(m.State)+" "+m.Code+" "+m.Device+": "+m.Text)
	}
	return strings.Join(lines, "\n")
}

// TestHeld: what is in use of an accelerator beyond its level before the run, and by whom.
func TestHeld(t *testing.T) {
	cases := []struct {
		name   string
		before func(*nodetest.Machine)
		after  func(*nodetest.Machine)
		want   string
	}{
		{"all came back", nil, nil, ""},
		{"within what drivers keep", nil, func(m *nodetest.Machine) { m.Use(1, nodetest.IdleVRAM+500<<20) }, ""},
		{"within a hundredth of the memory", nil, func(m *nodetest.Machine) { m.Use(1, nodetest.IdleVRAM+19*gibi/10) }, ""},
		{"nobody shows it", nil, func(m *nodetest.Machine) { m.Use(1, nodetest.IdleVRAM+120*gibi) },
			"dirty memory_held 0000:15:00.0: GPU 1 (0000:15:00.0) holds 120.0 GiB more than before the run, and no process shows it"},
		{"a worker lives on", nil, func(m *nodetest.Machine) { m.Use(0, nodetest.IdleVRAM+22*gibi); m.Start(812, "python3", 0, 22*gibi) },
			"dirty memory_held 0000:05:00.0: GPU 0 (0000:05:00.0) holds 22.0 GiB more than before the run, by pid 812 python3 (22.0 GiB)"},
		{"a worker with hardly any memory", nil, func(m *nodetest.Machine) { m.Start(812, "python3", 0, 1<<20) },
			"dirty process_left 0000:05:00.0: GPU 0 (0000:05:00.0) is used, by pid 812 python3 (0.0 GiB)"},
		{"who was there before is theirs", func(m *nodetest.Machine) { m.Use(0, 10*gibi); m.Start(7, "train", 0, 9*gibi) }, nil, ""},
		{"what they took since is theirs too", func(m *nodetest.Machine) { m.Use(0, 10*gibi); m.Start(7, "train", 0, 9*gibi) },
			func(m *nodetest.Machine) { m.Use(0, 50*gibi); m.Start(7, "train", 0, 49*gibi) }, ""},
		{"another program with the number of an earlier one", func(m *nodetest.Machine) { m.Start(7, "train", 0, gibi) },
			func(m *nodetest.Machine) { m.Start(7, "python3", 0, gibi) },
			"dirty process_left 0000:05:00.0: GPU 0 (0000:05:00.0) is used, by pid 7 python3 (1.0 GiB)"},
		{"a program that only watches", nil, func(m *nodetest.Machine) { m.Start(9, "amd-smi", 0, 1<<20) }, ""},
		{"after a reboot nothing is left", nil, func(m *nodetest.Machine) { m.Use(1, 100*gibi); m.Boot() }, ""},
		{"one that is gone holds nothing", nil, func(m *nodetest.Machine) { m.Lose(1) }, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := nodetest.New(t, 2)
			if c.before != nil {
				c.before(m)
			}
			levels := Levels(look(t, m))
			if c.after != nil {
				c.after(m)
			}
			if got := brief(Held(levels, look(t, m))); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// TestHeldByNobodyKnows: a driver that does not tell who uses it, as to one who is not root; and one that tells no memory.
func TestHeldByNobodyKnows(t *testing.T) {
	gpu := func(used probes.Fact[int64]) (s probes.SUT) {
		a := probes.Accelerator{PCI: probes.PCI{Address: probes.Known("0000:1b:00.0", "x")}, VRAMBytes: probes.Known(80*gibi, "x"), VRAMUsedBytes: used}
		a.Processes.Unknown = "nvidia-smi: Insufficient Permissions"
		s.Accelerators.Items = append(s.Accelerators.Items, a)
		return s
	}
	idle, full, silent := gpu(probes.Known(gibi, "x")), gpu(probes.Known(70*gibi, "x")), gpu(probes.Unknown[int64]("N/A"))
	marks := Held(Levels(idle), full)
	if got := brief(marks); got != "dirty memory_held 0000:1b:00.0: GPU 0 (0000:1b:00.0) holds 69.0 GiB more than before the run, and who holds it is not known: nvidia-smi: Insufficient Permissions" {
		t.Error(got)
	}
	if marks := Held(Levels(idle), silent); len(marks) > 0 {
		t.Errorf("what cannot be read is no reason: %s", brief(marks))
	}
	if levels := Levels(silent); len(levels) > 0 {
		t.Errorf("levels of what tells nothing: %+v", levels)
	}
	n := Mark(result.Node{}, marks, full, "run1", 1)
	if again := Judge(n, silent, 2); again.State != result.NodeDirty {
		t.Errorf("a mark went because its GPU could not be read: %+v", again)
	}
}

// TestNewcomers: who came after the mark neither keeps it nor stands in it.
func TestNewcomers(t *testing.T) {
	m := nodetest.New(t, 2)
	levels := Levels(look(t, m))
	m.Use(0, nodetest.IdleVRAM+22*gibi)
	m.Start(812, "python3", 0, 22*gibi)
	n := Mark(result.Node{}, Held(levels, look(t, m)), look(t, m), "run1", 1)
	m.Use(0, nodetest.IdleVRAM+62*gibi)
	m.Start(900, "train", 0, 40*gibi)
	n = Judge(n, look(t, m), 2)
	if got := brief(n.Marks); !strings.HasSuffix(got, "by pid 812 python3 (22.0 GiB)") {
		t.Errorf("beside another program: %s", got)
	}
	m.Use(0, nodetest.IdleVRAM+40*gibi)
	m.End(812)
	if n = Judge(n, look(t, m), 3); n.State != result.NodeReady {
		t.Errorf("the mark is kept by another program: %s", brief(n.Marks))
	}
}

// TestWait: memory that comes back slowly is waited for, and shown meanwhile; what does not is told when the time is over.
func TestWait(t *testing.T) {
	cases := []struct {
		name string
		used func(at time.Duration) int64 // of GPU 3
		took time.Duration
		left bool
	}{
		{"back at once", func(time.Duration) int64 { return nodetest.IdleVRAM }, 0, false},
		{"comes back slowly", func(at time.Duration) int64 { return max(nodetest.IdleVRAM, 120*gibi-int64(at/time.Second)*10*gibi) }, 12 * time.Second, false},
		{"never", func(time.Duration) int64 { return 120 * gibi }, 15 * time.Second, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := nodetest.New(t, 4)
			levels := Levels(look(t, m))
			synctest.Test(t, func(t *testing.T) {
				begun, told := time.Now(), []string{}
				w := Wait{Limit: 15 * time.Second, Left: func(s probes.SUT) []result.Mark { return Held(levels, s) },
					Tell: func(marks []result.Mark) { told = append(told, Waiting(marks)) },
					Look: func(ctx context.Context) probes.SUT {
						m.Use(3, c.used(time.Since(begun)))
						return reading(m)(ctx)
					}}
				_, left := w.Run(t.Context())
				if took := time.Since(begun); took != c.took || len(left) > 0 != c.left {
					t.Errorf("took %s, left %s", took, brief(left))
				}
				const first = "waiting for GPU memory: GPU 3 (0000:35:00.0) holds 119.7 GiB more than before the run, and no process shows it"
				if len(told) > 0 != (c.took > 0) || len(told) > 0 && told[0] != first {
					t.Errorf("told %d times, first %q", len(told), told[0])
				}
			})
		})
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	m := nodetest.New(t, 1)
	levels := Levels(look(t, m))
	m.Use(0, 90*gibi)
	ctx, cancel := context.WithCancel(t.Context())
	w := Wait{Limit: time.Hour, Look: reading(m), Tell: func([]result.Mark) { cancel() },
		Left: func(s probes.SUT) []result.Mark { return Held(levels, s) }}
	if _, left := w.Run(ctx); len(left) != 1 {
		t.Errorf("left %v", left)
	}
}

// TestField_issue_lost_gpu: a machine misses the devices that it had, by what it shows: off the bus, without an answer, another one. It is
// fit again when they are back, and not for a list that could not be read.
func TestField_issue_lost_gpu(t *testing.T) {
	cases := []struct {
		name    string
		becomes func(*nodetest.Machine)
		want    string
	}{
		{"all are there", func(*nodetest.Machine) {}, ""},
		{"one more", func(m *nodetest.Machine) { m.Add() }, ""},
		{"off the bus", func(m *nodetest.Machine) {
			m.Lose(1)
			m.Log("[ 100.0] amdgpu 0000:15:00.0: amdgpu: GPU reset begin!")
		}, "unfit gpu_missing 0000:15:00.0: AMD Instinct MI300X at 0000:15:00.0 is not on the bus any more"},
		{"on the bus, without its driver", func(m *nodetest.Machine) { m.Hang(2) },
			"unfit gpu_lost 0000:25:00.0: AMD Instinct MI300X at 0000:25:00.0 does not answer any more: /sys/class/kfd/kfd/topology/nodes does not list it"},
		{"another in its place", func(m *nodetest.Machine) { m.Replace(0) },
			"unfit gpu_changed 0000:05:00.0: AMD Instinct MI300X at 0000:05:00.0 is not the one that was there before"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := nodetest.New(t, 3)
			n := Judge(result.Node{}, look(t, m), 1)
			if n.State != result.NodeReady || len(n.Devices) != 3 {
				t.Fatalf("%+v", n)
			}
			c.becomes(m)
			bad := Judge(n, look(t, m), 2)
			if got := brief(bad.Marks); got != c.want || (bad.State == result.NodeReady) != (c.want == "") {
				t.Fatalf("%s:\n%s\nwant %s", bad.State, got, c.want)
			}
			if c.name == "off the bus" && !strings.Contains(bad.Marks[0].Evidence, "GPU reset begin") {
				t.Errorf("evidence %q", bad.Marks[0].Evidence)
			}
			if again := Judge(bad, look(t, m), 3); c.want != "" && (again.Marks[0].SinceUS != 2 || again.SeenUS != 3) {
				t.Errorf("looked at again: %+v", again)
			}
			blind := probes.SUT{}
			blind.Accelerators.Unknown = "the amd probe did not answer within 3s"
			if diff := cmp.Diff(bad.Marks, Judge(bad, blind, 4).Marks); diff != "" {
				t.Errorf("a list that could not be read changed the marks:\n%s", diff)
			}
			if ok := Accept(look(t, m), 5); ok.State != result.NodeReady || Judge(ok, look(t, m), 6).State != result.NodeReady {
				t.Errorf("accepted: %+v", ok)
			}
			for gpu := range 3 {
				m.Return(gpu)
			}
			if back := Judge(bad, look(t, m), 7); back.State != result.NodeReady {
				t.Errorf("all are back, and it is %s:\n%s", back.State, brief(back.Marks))
			}
		})
	}
}

// TestFate: what NVIDIA's driver and the kernel say of a device that is lost.
func TestFate(t *testing.T) {
	const at = "0000:3b:00.0"
	had := []result.Device{{Address: at, Vendor: "NVIDIA", Name: "NVIDIA H100 80GB HBM3", VRAMBytes: 80 * gibi}}
	gpu := func(usable probes.Fact[bool], vram probes.Fact[int64]) probes.SUT {
		var s probes.SUT
		s.Accelerators.Items = []probes.Accelerator{{PCI: probes.PCI{Address: probes.Known(at, "x")}, Usable: usable, VRAMBytes: vram}}
		s.OS.KernelLog.Items = []probes.LogEvent{{Code: probes.Known("nvidia_xid_79", "dmesg"), Device: probes.Known(at, "dmesg"), Line: probes.Known("NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.", "dmesg")},
			{Code: probes.Known("nvidia_xid_31", "dmesg"), Device: probes.Known("0000:5e:00.0", "dmesg"), Line: probes.Known("another's", "dmesg")}}
		return s
	}
	lost := probes.Unknown[int64]("GPU is lost")
	cases := []struct {
		name       string
		now        probes.SUT
		code, text string
	}{
		{"it answers", gpu(probes.Known(true, "x"), probes.Known(80*gibi, "x")), "", ""},
		{"the tool says that it is lost", gpu(probes.Known(false, "nvidia-smi: GPU is lost. Reboot the system to recover this GPU"), lost), result.MarkGPULost, "does not answer any more: nvidia-smi: GPU is lost"},
		{"it tells nothing where it told its memory", gpu(probes.Unknown[bool]("x"), lost), result.MarkGPULost, "does not tell its memory any more: GPU is lost"},
		{"memory does not apply to it", gpu(probes.Unknown[bool]("x"), probes.NA[int64]("memory of the host")), "", ""},
	}
	for _, c := range cases {
		marks, seen := missed(had, c.now)
		if !seen || (c.code == "") != (len(marks) == 0) {
			t.Errorf("%s: %s", c.name, brief(marks))
			continue
		}
		if len(marks) > 0 && (marks[0].Code != c.code || !strings.Contains(marks[0].Text, c.text) || marks[0].Evidence != "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.") {
			t.Errorf("%s: %+v", c.name, marks[0])
		}
	}
}

// TestCapturesOfOneMachine: two captures, of which the second lacks a GPU.
func TestCapturesOfOneMachine(t *testing.T) {
	const kept = "../../probes/testdata/hosts/bare-metal-mi300x"
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(kept)); err != nil {
		t.Fatal(err)
	}
	read := func() probes.SUT {
		h, done, err := probes.FromCapture(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = done() }()
		return probes.Read(t.Context(), h, probes.Program{})
	}
	n := Judge(result.Node{}, read(), 1)
	if len(n.Devices) != 2 {
		t.Fatalf("%+v", n.Devices)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "sys/bus/pci/devices/0000:3d:00.0")), os.RemoveAll(filepath.Join(dir, "sys/class/kfd/kfd/topology/nodes/3"))); err != nil {
		t.Fatal(err)
	}
	if n = Judge(n, read(), 2); n.State != result.NodeUnfit || len(n.Marks) != 1 || n.Marks[0].Device != "0000:3d:00.0" || n.Marks[0].Code != result.MarkGPUMissing {
		t.Errorf("%s:\n%s", n.State, brief(n.Marks))
	}
}

// TestAGPUInAnotherSlot is the same GPU.
func TestAGPUInAnotherSlot(t *testing.T) {
	had := []result.Device{{Address: "0000:05:00.0", SerialHash: "aa"}, {Address: "0000:15:00.0", SerialHash: "bb"}}
	var now probes.SUT
	for _, is := range [][2]string{{"0000:05:00.0", "bb"}, {"0000:15:00.0", "aa"}} {
		now.Accelerators.Items = append(now.Accelerators.Items, probes.Accelerator{PCI: probes.PCI{Address: probes.Known(is[0], "x")}, SerialHash: probes.Known(is[1], "x")})
	}
	if marks, seen := missed(had, now); len(marks) > 0 || !seen {
		t.Errorf("%s", brief(marks))
	}
	if list := known(had, now, 9); len(list) != 2 || list[0].Address != "0000:15:00.0" {
		t.Errorf("%+v", list)
	}
}

// keeperOf is a keeper over a new store, and what it tells.
func keeperOf(t *testing.T, m *nodetest.Machine) (Keeper, *[]string) {
	t.Helper()
	st, err := store.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	told := &[]string{}
	return Keeper{Store: st, Now: time.Now, Limit: time.Nanosecond, Look: reading(m),
		Tell: func(e result.Event) {
			if e.Kind != result.Progressed {
				*told = append(*told, e.Kind+" "+e.Text)
			}
		}}, told
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	return fault.Of(err, fault.Client).Code
}

// TestKeeper: a run leaves memory in use, the next is refused by the holder's name, and one after that is taken when the holder is gone.
func TestKeeper(t *testing.T) {
	m := nodetest.New(t, 2)
	k, told := keeperOf(t, m)
	ctx := t.Context()
	seen, err := k.Before(ctx, look(t, m), "run1")
	if err != nil {
		t.Fatal(err)
	}
	m.Use(1, 120*gibi)
	m.Start(812, "VLLM::Worker", 1, 119*gibi)
	r, err := k.After(ctx, Levels(seen), "run1")
	if err != nil || len(r.Marks) != 1 || *r.Devices[0].AfterBytes != *r.Devices[0].BeforeBytes || *r.Devices[1].AfterBytes != 120*gibi {
		t.Fatalf("%+v, %v", r, err)
	}
	_, err = k.Before(ctx, look(t, m), "run2")
	f := fault.Of(err, fault.Client)
	if f == nil || f.Code != "preflight.node_dirty" || !strings.Contains(f.Text, "pid 812 VLLM::Worker") || !strings.Contains(f.Hint, "end pid 812 VLLM::Worker") {
		t.Fatalf("%+v", f)
	}
	n, err := k.Store.Node(ctx)
	if err != nil || n.State != result.NodeDirty || n.Marks[0].Run != "run1" {
		t.Errorf("%+v, %v", n, err)
	}
	m.End(812)
	if _, err = k.Before(ctx, look(t, m), "run3"); codeOf(err) != "preflight.node_dirty" || !strings.Contains(err.Error(), "no process shows it") {
		t.Errorf("memory without a holder: %v", err)
	}
	m.Use(1, nodetest.IdleVRAM)
	if _, err = k.Before(ctx, look(t, m), "run4"); err != nil {
		t.Error(err)
	}
	want := []string{
		"node.marked dirty: GPU 1 (0000:15:00.0) holds 119.7 GiB more than before the run, by pid 812 VLLM::Worker (119.0 GiB)",
		"node.cleared not dirty any more: GPU 1 (0000:15:00.0) holds 119.7 GiB more than before the run, and no process shows it",
	}
	if diff := cmp.Diff(want, *told); diff != "" {
		t.Error(diff)
	}
}

// TestKeeperWaitsBeforeARun: what an earlier run left may be on its way out.
func TestKeeperWaitsBeforeARun(t *testing.T) {
	m := nodetest.New(t, 1)
	k, _ := keeperOf(t, m)
	levels := Levels(look(t, m))
	m.Use(0, 50*gibi)
	if _, err := k.After(t.Context(), levels, "run1"); err != nil {
		t.Fatal(err)
	}
	dirty := look(t, m)
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		k.Limit = 0
		k.Look = func(ctx context.Context) probes.SUT {
			if time.Since(begun) >= 8*time.Second {
				m.Use(0, nodetest.IdleVRAM)
			}
			return reading(m)(ctx)
		}
		w := k.wait(func(s probes.SUT) []result.Mark { return Held(levels, s) }, BeforeRun)
		if _, left := w.Run(t.Context()); len(left) > 0 || time.Since(begun) != 8*time.Second {
			t.Errorf("left %v after %s", left, time.Since(begun))
		}
	})
	if seen, err := k.Before(t.Context(), dirty, "run2"); err != nil || *Levels(seen)[0].UsedBytes != nodetest.IdleVRAM {
		t.Errorf("%v", err)
	}
}

// TestKeeperRefusesAnUnfitNode until the GPU is back, or the operator takes the machine as it is.
func TestKeeperRefusesAnUnfitNode(t *testing.T) {
	for _, how := range []string{"comes back", "is accepted"} {
		m := nodetest.New(t, 2)
		k, _ := keeperOf(t, m)
		if _, err := k.Before(t.Context(), look(t, m), "run1"); err != nil {
			t.Fatal(err)
		}
		m.Lose(1)
		for _, run := range []string{"run2", "run3"} {
			if _, err := k.Before(t.Context(), look(t, m), run); codeOf(err) != "preflight.node_unfit" || !strings.Contains(err.Error(), "0000:15:00.0 is not on the bus any more") {
				t.Errorf("%s: %v", run, err)
			}
		}
		n, err := k.Check(t.Context(), how == "is accepted")
		if err != nil || (n.State == result.NodeReady) != (how == "is accepted") {
			t.Errorf("%s: %+v, %v", how, n, err)
		}
		if how == "comes back" {
			if n.Marks[0].Run != "run2" {
				t.Errorf("found by %s", n.Marks[0].Run)
			}
			m.Return(1)
		}
		if _, err := k.Before(t.Context(), look(t, m), "run4"); err != nil {
			t.Errorf("%s: %v", how, err)
		}
	}
}

// TestKeeperRecovers: the program was killed while a server held memory; what is still held is marked with the run that held it.
func TestKeeperRecovers(t *testing.T) {
	server := map[bool]string{true: "{engine: sim, runtime: process}", false: `{engine: sim, runtime: endpoint, url: "http://127.0.0.1:1"}`}
	for _, started := range []bool{true, false} {
		m := nodetest.New(t, 1)
		k, _ := keeperOf(t, m)
		ctx := t.Context()
		p, err := plan.ParseSet([]byte("apiVersion: assay/v1\nname: x\nmodel: {name: sim}\nserver: "+server[started]+"\nworkload: {kind: synthetic, input_len: 8}\nprotocol: {sweep: {concurrency: [1], requests: 1}}\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		before, err := json.Marshal(look(t, m))
		if err != nil {
			t.Fatal(err)
		}
		run := store.Run{ID: store.NewRunID(time.Now()), Name: "x", State: result.Queued, Plan: p.Canonical(), PlanSHA256: p.Hash(), Source: "cli", CreatedUS: 1}
		if err := errors.Join(k.Store.CreateRun(ctx, run), k.Store.MoveRun(ctx, run.ID, result.Running, store.RunChange{AtUS: 2}),
			k.Store.PutDocument(ctx, run.ID, store.SUTBefore, before)); err != nil {
			t.Fatal(err)
		}
		m.Use(0, 80*gibi)
		if err := k.Recover(ctx); err != nil {
			t.Fatal(err)
		}
		n, err := k.Store.Node(ctx)
		if err != nil || (n.State == result.NodeDirty) != started || started && n.Marks[0].Run != run.ID {
			t.Errorf("started here %v: %+v, %v", started, n, err)
		}
		m.Boot()
		if err := k.Recover(ctx); err != nil {
			t.Fatal(err)
		}
		if n, _ = k.Store.Node(ctx); n.State != result.NodeReady {
			t.Errorf("after a reboot: %+v", n)
		}
	}
}
