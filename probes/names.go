package probes

import (
	"context"
	"io"

	"assay/probes/host"
	"assay/probes/sut"
)

// SchemaSUT is the schema name of the SUT document.
const SchemaSUT = sut.SchemaSUT

// ErrNotFound tells that a program is not on the machine, or that a capture does not hold its output.
var ErrNotFound = host.ErrNotFound

// The parts of the SUT document (probes/sut) and of the host it is read from (probes/host). They live in packages of their own, so
// that each group of probes can be one too; these are their names here.
type (
	SUT          = sut.SUT
	Program      = sut.Program
	System       = sut.System
	BIOS         = sut.BIOS
	CPU          = sut.CPU
	NUMANode     = sut.NUMANode
	Memory       = sut.Memory
	DIMM         = sut.DIMM
	Accelerator  = sut.Accelerator
	PCI          = sut.PCI
	Link         = sut.Link
	Partition    = sut.Partition
	GPUProcess   = sut.GPUProcess
	Interconnect = sut.Interconnect
	Storage      = sut.Storage
	Drive        = sut.Drive
	Filesystem   = sut.Filesystem
	Network      = sut.Network
	NIC          = sut.NIC
	InfiniBand   = sut.InfiniBand
	OS           = sut.OS
	Tuning       = sut.Tuning
	Software     = sut.Software
	Power        = sut.Power
	Sample       = sut.Sample
	Host         = host.Host
	Output       = host.Output
	Uname        = host.Uname
	Statfs       = host.Statfs
)

// Fact is a value with its source, or the reason why there is none.
type Fact[T any] = sut.Fact[T]

// List is a list of the SUT, or the reason why it could not be read.
type List[T any] = sut.List[T]

// Known makes a fact with a value.
func Known[T any](v T, source string) Fact[T] { return sut.Known(v, source) }

// Unknown makes a fact without a value and says why.
func Unknown[T any](format string, args ...any) Fact[T] { return sut.Unknown[T](format, args...) }

// NA makes a fact that does not apply and says why.
func NA[T any](reason string) Fact[T] { return sut.NA[T](reason) }

// Live is this machine.
func Live() Host { return host.Live() }

// FromCapture opens a capture, a folder or a tar.gz. The function it gives removes what was unpacked.
func FromCapture(path string) (Host, func() error, error) { return host.FromCapture(path) }

// Capture writes what the probes read of a host as a tar.gz that FromCapture opens, and that gives the same SUT. Serial numbers and the
// like become hashes; names of the host, addresses and secrets are cut.
func Capture(ctx context.Context, h Host, w io.Writer) error {
	return host.Record(ctx, h, func(h Host) { Read(ctx, h, Program{}) }, w)
}
