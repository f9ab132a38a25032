package nvidia

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

// Probe reads NVIDIA GPUs from nvidia-smi, and from the PCI bus those that it does not report.
func Probe(ctx context.Context, h host.Host, s *sut.SUT) error {
	cards, complete := pci.Accelerators(h, pci.NVIDIA)
	d := readDriver(h)
	s.Software.NVIDIADriver, s.Software.CUDA = d.version, sut.Unknown[string]("nvidia-smi: %s", host.ErrNotFound)
	r := askAll(ctx, h, cards)
	if r.failure != nil {
		s.Software.CUDA = sut.Unknown[string]("%s", r.failure)
		s.Accelerators = unreported(h, cards, d, r.failure)
		if len(cards) == 0 && !(complete && (h.Absent(procDriver) || errors.Is(r.failure, host.ErrNotFound))) {
			s.Accelerators = sut.List[sut.Accelerator]{Unknown: r.failure.Error()}
		}
		return nil
	}
	d = d.against(r.log.fact(r.source, "driver_version"))
	s.Software.NVIDIADriver, s.Software.CUDA = d.version, r.log.fact(r.source, "cuda_version")
	if !s.Software.CUDA.IsKnown() {
		s.Software.CUDA = askCUDA(ctx, h, s.Software.CUDA)
	}
	s.Accelerators = r.accelerators(h, cards, d)
	s.Interconnect = r.interconnect(h, s.Accelerators.Items)
	s.System.Virtualization = r.passedThrough()
	return nil
}

// accelerators gives the GPUs of the record, those that are on the bus alone, and those that the record counts and nobody shows.
func (r report) accelerators(h host.Host, cards []pci.Device, d driver) sut.List[sut.Accelerator] {
	var list sut.List[sut.Accelerator]
	gpus := r.log.all("gpu")
	for i, n := range gpus {
		list.Items = append(list.Items, r.gpu(h, i, n, d).read())
	}
	for _, c := range cards {
		if !slices.ContainsFunc(gpus, func(n *node) bool { return n.address() == c.Address }) {
			list.Items = append(list.Items, missing(h, c, d, errors.New("nvidia-smi does not report this GPU"), true))
		}
	}
	if n, err := r.log.announced(); err == nil {
		for len(list.Items) < n {
			why := fmt.Errorf("nvidia-smi announces %d GPUs and lists %d", n, len(gpus))
			list.Items = append(list.Items, missing(h, pci.Device{}, d, why, true))
		}
	}
	return list
}

// unreported gives the GPUs of the bus where nvidia-smi gives no record. Where it was asked and gave none, they cannot be used; where it is
// not there to be asked, that is not said.
func unreported(h host.Host, cards []pci.Device, d driver, why error) sut.List[sut.Accelerator] {
	var list sut.List[sut.Accelerator]
	for _, c := range cards {
		list.Items = append(list.Items, missing(h, c, d, why, refused(h, why)))
	}
	return list
}

// refused tells a failure that is the driver's or the tool's own from a question that was not put, or was given up.
func refused(h host.Host, why error) bool {
	if errors.Is(why, context.Canceled) {
		return false
	}
	return !errors.Is(why, host.ErrNotFound) || h.Live && h.Absent(procDriver)
}

// passedThrough tells a guest by its GPU; unknown otherwise, since the bare machine's GPU and some guests' say the same.
func (r report) passedThrough() sut.Fact[string] {
	for _, n := range r.log.all("gpu") {
		mode := n.fact(r.source, "gpu_virtualization_mode/virtualization_mode")
		if mode.Value == "Pass-Through" || mode.Value == "VGPU" {
			return sut.Known("vm-other", mode.Source+" is "+mode.Value)
		}
	}
	return sut.Fact[string]{}
}

// askCUDA takes the version that the driver supports from the tool's own banner, where the record has none.
func askCUDA(ctx context.Context, h host.Host, record sut.Fact[string]) sut.Fact[string] {
	if v := host.KeyValues(answer(ctx, h, "nvidia-smi", "--version"), ":")["CUDA Version"]; isValue(v) {
		return sut.Known(v, "nvidia-smi --version")
	}
	return record
}
