package klog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"assay/probes/host"
	"assay/probes/sut"
)

const fixtures = "../../../shared/fixtures/system/dmesg"

func counted(log string) []string {
	list := []string{}
	for _, e := range Events([]byte(log), "dmesg") {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%d %s %s", e.Count.Value, e.Code.Value, e.Device.Value)))
	}
	return list
}

func TestEvents(t *testing.T) {
	for name, tt := range map[string]struct {
		log  string
		want []string
	}{
		"nothing":      {"[    1.000000] amdgpu 0000:03:00.0: amdgpu: Fetched VBIOS from VFCT\n", []string{}},
		"fell off":     {"[ 12.5] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n[ 12.5] NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.", []string{"1 nvidia_xid_79 0000:3b:00.0", "1 nvidia_fallen_off 0000:3b:00.0"}},
		"two devices":  {"NVRM: Xid (PCI:0000:3B:00): 48, x\nNVRM: Xid (PCI:0000:9b:00): 48, x\nNVRM: Xid (PCI:0000:3b:00): 48, y", []string{"2 nvidia_xid_48 0000:3b:00.0", "1 nvidia_xid_48 0000:9b:00.0"}},
		"amdgpu":       {"amdgpu 0000:c1:00.0: amdgpu: GPU reset begin!\namdgpu 0000:c1:00.0: amdgpu: ring sdma0 timeout, signaled seq=1\namdgpu 0000:c1:00.0: [gfxhub0] no-retry page fault (src_id:0)", []string{"1 amdgpu_reset 0000:c1:00.0", "1 amdgpu_ring_timeout 0000:c1:00.0", "1 amdgpu_page_fault 0000:c1:00.0"}},
		"preemption":   {"amdgpu: Queue preemption failed for queue with doorbell_id: 8000\namdgpu: Runlist is getting oversubscribed. Expect reduced ROCm performance.", []string{"1 amdgpu_preemption", "1 amdgpu_oversubscribed"}},
		"AER":          {"pcieport 0000:00:01.1: AER: Corrected error received: 0000:01:00.0\npcieport 0000:00:01.1: AER: Uncorrected (Fatal) error received: 0000:01:00.0", []string{"1 pcie_corrected 0000:00:01.1", "1 pcie_uncorrected 0000:00:01.1"}},
		"host":         {"mce: [Hardware Error]: Machine check events logged\nEDAC MC0: 1 UE memory read error\nOut of memory: Killed process 4242 (python3)\nblk_update_request: I/O error, dev nvme0n1, sector 5", []string{"1 machine_check", "1 memory_uncorrected", "1 out_of_memory", "1 disk_error"}},
		"no such word": {"audit: uncorrectable amusement\nring gfx timeout", []string{}},
	} {
		if diff := cmp.Diff(tt.want, counted(tt.log)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// TestEventsNameNobody: what a line says of addresses and of the host's people stays in the kernel's log, and a long line hides none after it.
func TestEventsNameNobody(t *testing.T) {
	log := strings.Repeat("x", 2<<20) + "\namdgpu 0000:c1:00.0: page fault of pid 7 from 10.1.2.3, 02:11:22:33:44:55, GPU-0a1b2c3d-1111-4222-8333-444455556666\n"
	list := Events([]byte(log), "dmesg")
	if len(list) != 1 || list[0].Code.Value != "amdgpu_page_fault" {
		t.Fatalf("%+v", list)
	}
	for _, secret := range []string{"10.1.2.3", "02:11:22", "0a1b2c3d"} {
		if strings.Contains(list[0].Line.Value, secret) {
			t.Errorf("%q names %s", list[0].Line.Value, secret)
		}
	}
}

// TestRealLogs reads logs of real machines, in the three forms in which they come.
func TestRealLogs(t *testing.T) {
	for file, want := range map[string][]string{
		"xid-119.log": {"5 nvidia_xid_119 0000:9b:00.0"},
		"kmsg.1.log":  {},
		"amd-node-scraper-sample.log": {
			"1 iommu_page_fault", "1 amdgpu_reset 0000:01:00.0", "1 amdgpu_poison 0000:01:00.0", "1 amdgpu_bad_pages 0000:02:00.0", "1 hardware_error",
			"11 amdgpu_hardware_error 0000:03:00.0",
		},
	} {
		b, err := os.ReadFile(filepath.Join(fixtures, file))
		if err != nil {
			t.Skipf("no public captures here: %v", err)
		}
		got := counted(string(b))
		for i := range got {
			if strings.Contains(got[i], "iommu_page_fault") {
				got[i] = "1 iommu_page_fault" // of a device without a domain in its address
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", file, diff)
		}
		for _, e := range Events(b, "dmesg") {
			if strings.Contains(e.Line.Value, "1650000000099") || strings.HasPrefix(e.Line.Value, "[") || strings.HasPrefix(e.Line.Value, "kern") {
				t.Errorf("%s: %q", file, e.Line.Value)
			}
		}
	}
}

// TestProbe says why there is no log, and who may read it.
func TestProbe(t *testing.T) {
	type answer struct {
		out host.Output
		err error
	}
	none := answer{err: fmt.Errorf("journalctl: %w", host.ErrNotFound)}
	denied := answer{out: host.Output{Exit: 1, Stderr: []byte("dmesg: read kernel buffer failed: Operation not permitted\n")}}
	for name, tt := range map[string]struct {
		dmesg, journal answer
		count          int
		unknown        string
	}{
		"root":         {dmesg: answer{out: host.Output{Stdout: []byte("NVRM: Xid (PCI:0000:3b:00): 79, x")}}, count: 1},
		"clean":        {dmesg: answer{out: host.Output{Stdout: []byte("Linux version 6.8")}}},
		"group adm":    {dmesg: denied, journal: answer{out: host.Output{Stdout: []byte("NVRM: Xid (PCI:0000:3b:00): 79, x")}}, count: 1},
		"a user":       {dmesg: denied, journal: answer{}, unknown: "needs root, or the group adm (dmesg gives nothing: dmesg: read kernel buffer failed: Operation not permitted; journalctl gives nothing)"},
		"no journal":   {dmesg: denied, journal: none, unknown: "needs root, or the group adm (dmesg gives nothing: dmesg: read kernel buffer failed: Operation not permitted; journalctl: not found)"},
		"dmesg hanged": {dmesg: answer{err: fmt.Errorf("dmesg took too long and was stopped")}, journal: none, unknown: "dmesg took too long and was stopped; journalctl: not found"},
	} {
		var s sut.SUT
		h := host.Host{Live: true, Exec: func(_ context.Context, argv ...string) (host.Output, error) {
			a := map[string]answer{"dmesg": tt.dmesg, "journalctl": tt.journal}[argv[0]]
			return a.out, a.err
		}}
		if err := Probe(t.Context(), h, &s); err != nil {
			t.Fatal(err)
		}
		if len(s.OS.KernelLog.Items) != tt.count || s.OS.KernelLog.Unknown != tt.unknown {
			t.Errorf("%s: %+v", name, s.OS.KernelLog)
		}
	}
}

func FuzzEvents(f *testing.F) {
	f.Add("[Sun Feb 23 16:24:18 2025] NVRM: Xid (PCI:0000:9b:00): 119, pid=2024380, name=nvidia-smi, Timeout")
	f.Add("6,3964,206764307,-;amdgpu 0000:03:00.0: GPU reset begin!\n SUBSYSTEM=pci")
	f.Add("kern  :err   : 2026-01-07T10:02:00,123456-06:00 amdgpu 0000:01:00.0: {15}Poison is created\xff")
	f.Fuzz(func(t *testing.T, log string) {
		for _, e := range Events([]byte(log), "dmesg") {
			if e.Code.Value == "" || e.Count.Value < 1 || utf8.RuneCountInString(e.Line.Value) > 220 {
				t.Errorf("%+v", e)
			}
		}
	})
}

// BenchmarkEvents reads a long log: one of a healthy machine of many devices, and one that a broken link floods.
func BenchmarkEvents(b *testing.B) {
	for name, line := range map[string]string{
		"healthy": "[ 1.123456] amdgpu 0000:c1:00.0: amdgpu: Fetched VBIOS from VFCT\n[ 1.123457] pci 0000:c1:00.0: BAR 0 [mem 0x20000000-0x2fffffff 64bit pref]\n",
		"flood":   "[ 1.123456] pcieport 0000:00:01.1: AER: Corrected error received: 0000:01:00.0\n",
	} {
		log := []byte(strings.Repeat(line, 10_000))
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Events(log, "dmesg")
			}
		})
	}
}
