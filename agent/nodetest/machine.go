// Package nodetest makes a machine of files whose GPUs lose memory, programs and themselves as a test wants.
package nodetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/probes"
)

// Machine is a machine with GPUs of AMD, as its kernel's files show them.
type Machine struct {
	t    testing.TB
	root string
	gpus int
}

// VRAM is the memory of a GPU, IdleVRAM what its driver takes of it, bytes.
const (
	VRAM     = 192 << 30
	IdleVRAM = 283 << 20
)

// New makes a machine with so many GPUs, which nobody uses.
func New(t testing.TB, gpus int) *Machine {
	t.Helper()
	m := &Machine{t: t, root: t.TempDir()}
	m.write("proc/sys/kernel/random/boot_id", "6a1ff0a2-5f1f-4f0b-9a40-7f0a3b8f1c11")
	m.write("sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 64\nsimd_count 0\n")
	m.mkdir("sys/class/kfd/kfd/proc")
	for range gpus {
		m.Add()
	}
	return m
}

// Address is the place on the bus of the GPU with this number.
func Address(gpu int) string { return fmt.Sprintf("0000:%02x:00.0", 0x05+0x10*gpu) }

// Add puts one more GPU into the machine.
func (m *Machine) Add() {
	gpu := m.gpus
	m.gpus++
	m.restore(gpu)
}

func (m *Machine) restore(gpu int) {
	m.t.Helper()
	dir := device(gpu)
	for name, text := range map[string]string{"vendor": "0x1002", "device": "0x74a1", "class": "0x120000", "unique_id": fmt.Sprintf("%016x", 0xabc0+gpu),
		"mem_info_vram_total": fmt.Sprint(VRAM), "mem_info_vram_used": fmt.Sprint(IdleVRAM)} {
		m.write(dir+"/"+name, text)
	}
	m.write(node(gpu)+"/properties", fmt.Sprintf("cpu_cores_count 0\nsimd_count 1216\nsimd_per_cu 4\nvendor_id 4098\ndevice_id %d\nlocation_id %d\ndomain 0\nnum_xcc 8\ngfx_target_version 90402\nunique_id %d\n",
		0x74a1, (0x05+0x10*gpu)<<8, 0xabc0+gpu))
	m.write(node(gpu)+"/gpu_id", fmt.Sprint(1001+gpu))
	m.write(node(gpu)+"/mem_banks/0/properties", fmt.Sprintf("heap_type 1\nsize_in_bytes %d\n", int64(VRAM)))
}

// Use sets how much memory of a GPU is in use, bytes.
func (m *Machine) Use(gpu int, bytes int64) {
	m.t.Helper()
	m.write(device(gpu)+"/mem_info_vram_used", fmt.Sprint(bytes))
}

// Start makes a program that uses a GPU.
func (m *Machine) Start(pid int, name string, gpu int, bytes int64) {
	m.t.Helper()
	m.write(fmt.Sprintf("proc/%d/comm", pid), name)
	m.write(fmt.Sprintf("sys/class/kfd/kfd/proc/%d/vram_%d", pid, 1001+gpu), fmt.Sprint(bytes))
	m.mkdir(fmt.Sprintf("sys/class/kfd/kfd/proc/%d/queues", pid))
}

// End ends a program.
func (m *Machine) End(pid int) {
	m.t.Helper()
	m.remove(fmt.Sprintf("proc/%d", pid))
	m.remove(fmt.Sprintf("sys/class/kfd/kfd/proc/%d", pid))
}

// Lose takes a GPU off the bus, and Return puts it back.
func (m *Machine) Lose(gpu int) {
	m.t.Helper()
	m.remove(device(gpu))
	m.remove(node(gpu))
}

// Return puts a GPU back.
func (m *Machine) Return(gpu int) {
	m.t.Helper()
	m.restore(gpu)
}

// Hang takes a GPU from its driver and leaves it on the bus.
func (m *Machine) Hang(gpu int) {
	m.t.Helper()
	m.remove(node(gpu))
}

// Replace puts another GPU in the place of one.
func (m *Machine) Replace(gpu int) {
	m.t.Helper()
	m.write(device(gpu)+"/unique_id", "00000000000fffff")
}

// Boot gives the machine another boot.
func (m *Machine) Boot() {
	m.t.Helper()
	m.write("proc/sys/kernel/random/boot_id", "0d5f3f6e-3a0c-4b53-8a1c-0c1d8f2b7e22")
}

// Log gives the machine's kernel log.
func (m *Machine) Log(lines ...string) {
	m.t.Helper()
	m.write("cmd/dmesg", strings.Join(lines, "\n")+"\n")
	m.write("commands.json", `[{"argv": ["dmesg"], "exit": 0, "stdout": "cmd/dmesg"}]`)
}

// Host is the machine for probes.
func (m *Machine) Host() probes.Host {
	m.t.Helper()
	h, done, err := probes.FromCapture(m.t.Context(), m.root)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = done() })
	return h
}

func device(gpu int) string { return "sys/bus/pci/devices/" + Address(gpu) }

func node(gpu int) string { return fmt.Sprintf("sys/class/kfd/kfd/topology/nodes/%d", gpu+1) }

func (m *Machine) write(name, text string) {
	m.t.Helper()
	full := filepath.Join(m.root, name)
	m.mkdir(filepath.Dir(name))
	tmp := full + "~" // a reader sees the old or the new
	if err := os.WriteFile(tmp, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Rename(tmp, full); err != nil {
		m.t.Fatal(err)
	}
}

func (m *Machine) mkdir(name string) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Join(m.root, name), 0o700); err != nil {
		m.t.Fatal(err)
	}
}

func (m *Machine) remove(name string) {
	m.t.Helper()
	if err := os.RemoveAll(filepath.Join(m.root, name)); err != nil {
		m.t.Fatal(err)
	}
}
