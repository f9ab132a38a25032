package nvidia

import (
	"context"
	"fmt"
	"sync"

	"assay/probes/host"
	"assay/probes/pci"
	"assay/probes/sut"
)

// Sampler takes what one nvidia-smi prints that goes on reporting: starting it for each sample would cost a tenth of a second to two of a
// core. It is started by the first Sample and ended by Close.
type Sampler struct {
	host    host.Host
	numbers numbers
	mu      sync.Mutex // Close comes while a Sample is under way
	feed    *feed
	closed  bool
}

// Name is "nvidia".
func (s *Sampler) Name() string { return "nvidia" }

// Sample gives what the program printed since the last time, at the times at which it did, and never waits for it: the first answer is
// empty. Of a capture it gives the one answer that it holds.
func (s *Sampler) Sample(ctx context.Context) ([]sut.Sample, error) {
	if !s.host.Live {
		return s.once(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil
	}
	if s.feed == nil {
		s.feed = startFeed(context.WithoutCancel(ctx), s.host, s.numbers)
	}
	return s.feed.take()
}

// Close ends the program, and what it started. It tells of one that reported no more at the end.
func (s *Sampler) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.feed == nil {
		s.closed = true
		return nil
	}
	s.closed = true
	s.feed.stop()
	return s.feed.silent()
}

// once reads one answer.
func (s *Sampler) once(ctx context.Context) ([]sut.Sample, error) {
	out, err := s.host.Run(ctx, "nvidia-smi", "--query-gpu="+fieldList(coreSamples()), "--format=csv")
	if err != nil {
		return nil, fmt.Errorf("sample NVIDIA GPUs: %w", err)
	}
	t, err := parseTable(out.Stdout)
	if err != nil {
		return nil, fmt.Errorf("sample NVIDIA GPUs: %w", err)
	}
	batch := sut.NewBatch()
	for i, row := range t.rows {
		address, _ := t.value("pci.bus_id", row)
		gpu := s.numbers.series(kernelAddress(address), i)
		t.sample(batch, gpu, row)
		t.throttle(batch, gpu, row, held{})
	}
	return batch.List, nil
}

// numbers gives the number of a GPU in the SUT by its address.
type numbers map[string]int

// series is what the names of a GPU's series begin with. One that the bus does not show counts in nvidia-smi's order.
func (n numbers) series(address string, index int) string {
	if number, ok := n[address]; ok {
		index = number
	}
	return fmt.Sprintf("gpu%d.", index)
}

// NewSampler samples the NVIDIA GPUs of a host; false when it has none.
func NewSampler(h host.Host) (*Sampler, bool) {
	cards, _ := pci.Accelerators(h, pci.NVIDIA)
	return &Sampler{host: h, numbers: pci.Numbers(h)}, len(cards) > 0 || h.IsDir(procDriver)
}
