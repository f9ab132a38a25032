package probes

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"assay/probes/amd"
	"assay/probes/amdsmi"
	"assay/probes/engines"
	"assay/probes/host"
	"assay/probes/kernel"
	"assay/probes/klog"
	"assay/probes/machine"
	"assay/probes/network"
	"assay/probes/nvidia"
	"assay/probes/others"
	"assay/probes/power"
	"assay/probes/storage"
	"assay/probes/sut"
)

// probe reads one part of the SUT. It has its own time limit; when it fails, hangs or panics, only what it owns is unknown.
type probe struct {
	name  string
	limit time.Duration
	owns  func(*SUT) []any // pointers to the parts of the SUT that it fills
	run   func(context.Context, Host, *SUT) error
}

// probes is every probe, in the order of the SUT document. They run side by side and see nothing of each other.
func probes() []probe {
	const files = 3 * time.Second // for reads of /sys and /proc
	return []probe{
		{"system", files, func(s *SUT) []any { return []any{&s.System} }, machine.ProbeSystem},
		{"cpu", files, func(s *SUT) []any { return []any{&s.CPU} }, machine.ProbeCPU},
		{"memory", files, func(s *SUT) []any { return []any{&s.Memory} }, machine.ProbeMemory},
		{"amd", files, func(s *SUT) []any {
			return []any{&s.Accelerators, &s.Interconnect, &s.Software.AMDGPU, &s.Software.AMDGPUSource, &s.Software.ROCm, &s.Software.ROCmTrees}
		}, amd.Probe},
		{"amd-smi", amdsmi.Limit, func(s *SUT) []any {
			return []any{(*second)(&s.Accelerators), &s.Software.AMDGPU, &s.Software.ROCm}
		}, amdsmi.Probe},
		{"nvidia", time.Minute, func(s *SUT) []any {
			return []any{&s.Accelerators, &s.Interconnect, &s.Software.NVIDIADriver, &s.Software.CUDA, &s.System.Virtualization}
		}, nvidia.Probe},
		{"other accelerators", files, func(s *SUT) []any { return []any{&s.Accelerators} }, others.Probe},
		{"storage", 2 * files, func(s *SUT) []any { return []any{&s.Storage} }, storage.Probe},
		{"network", files, func(s *SUT) []any { return []any{&s.Network.Interfaces, &s.Network.InfiniBand, &s.Network.Summary} }, network.Probe},
		{"ports", files, func(s *SUT) []any { return []any{&s.Network.Listening} }, network.ProbeListening},
		{"os", files, func(s *SUT) []any { return []any{&s.OS} }, kernel.Probe},
		{"kernel_log", files, func(s *SUT) []any { return []any{&s.OS.KernelLog} }, klog.Probe},
		{"containers", 2 * files, func(s *SUT) []any {
			w := &s.Software
			return []any{&w.Docker, &w.Containerd, &w.ContainerToolkit, &w.AMDContainerToolkit, &w.Runc, &w.Podman, &w.Engine, &w.CDI}
		}, engines.Probe},
		{"power", power.Limit, func(s *SUT) []any {
			return []any{&s.Power, &s.System.BMC, &s.System.Vendor, &s.System.Product, &s.System.BIOS.Version, &s.Memory.InstalledBytes}
		}, power.Probe},
	}
}

// Read asks every probe and gives the SUT. It changes nothing on the host, and gives a whole SUT whatever fails.
func Read(ctx context.Context, h Host, p Program) SUT {
	list := probes()
	parts := make([]SUT, len(list))
	var wg sync.WaitGroup
	for i := range list {
		wg.Go(func() { parts[i] = runProbe(ctx, h, list[i]) })
	}
	wg.Wait()
	sut := SUT{Schema: SchemaSUT, ProbedAtUS: time.Now().UnixMicro(), Program: p}
	for i, pr := range list {
		to, from := pr.owns(&sut), pr.owns(&parts[i])
		for j := range to {
			join(to[j], from[j])
		}
	}
	settle(h, &sut)
	return sut
}

// join puts a part in its place. Two probes own the accelerators: their lists are put together.
func join(to, from any) {
	switch to := to.(type) {
	case *List[Accelerator]:
		joinAccelerators(to, from.(*List[Accelerator]))
	case *second:
		joinSecond((*List[Accelerator])(to), from.(*second))
	case *Fact[string]:
		joinFact(to, from.(*Fact[string]))
	case *Fact[int64]:
		joinFact(to, from.(*Fact[int64]))
	case *Interconnect:
		joinInterconnect(to, from.(*Interconnect))
	default:
		reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from).Elem())
	}
}

// runProbe runs one probe on a SUT of its own. A probe that does not come back in time is left behind with that SUT.
func runProbe(ctx context.Context, h Host, p probe) SUT {
	ctx, cancel := context.WithTimeout(ctx, p.limit)
	defer cancel()
	type answer struct {
		sut SUT
		err error
	}
	done := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if r := recover(); r != nil {
				a = answer{err: fmt.Errorf("broke off: %v", r)}
			}
			done <- a
		}()
		a.err = p.run(ctx, h, &a.sut)
	}()
	var a answer
	select {
	case a = <-done:
	case <-ctx.Done():
		a.err = fmt.Errorf("did not answer within %s", p.limit)
		if errors.Is(ctx.Err(), context.Canceled) {
			a.err = errors.New("was stopped")
		}
	}
	if a.err != nil {
		a.sut = SUT{}
		for _, part := range p.owns(&a.sut) {
			sut.GiveReason(reflect.ValueOf(part).Elem(), fmt.Sprintf("the %s probe %s", p.name, a.err))
		}
	}
	return a.sut
}

// settle decides what needs more than one probe.
func settle(h Host, s *SUT) {
	settleVendors(s)
	settleNodes(s)
	settleContainer(s)
	power.Provision(s)
	host.SaltHashes(h, reflect.ValueOf(s).Elem())
	sut.EachText(reflect.ValueOf(s).Elem(), h.ForDocument())
}
