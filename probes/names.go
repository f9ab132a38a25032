package probes

import (
	"context"
	"io"
	"reflect"

	"assay/probes/check"
	"assay/probes/engines"
	"assay/probes/host"
	"assay/probes/sut"
)

// SchemaSUT is the schema name of the SUT document.
const SchemaSUT = sut.SchemaSUT

// ErrNotFound tells that a program is not on the machine, or that a capture does not hold its output.
var ErrNotFound = host.ErrNotFound

// The parts of the SUT document (probes/sut), of the host it is read from (probes/host) and of what is said of it (probes/check). They
// live in packages of their own, so that each group of probes can be one too; these are their names here.
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
	PowerSupply  = sut.PowerSupply
	LogEvent     = sut.LogEvent
	Sample       = sut.Sample
	Host         = host.Host
	Output       = host.Output
	Uname        = host.Uname
	Check        = check.Check
	CheckState   = check.State
	CheckRequest = check.Request
	Wanted       = check.Wanted
	Change       = check.Change
)

// The states of a check.
const (
	CheckOK      = check.OK
	CheckWarn    = check.Warn
	CheckFail    = check.Fail
	CheckUnknown = check.Unknown
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

// Plain is the SUT document with bare values in place of facts, null where there is none. The keys keep their order.
func Plain(s SUT) ([]byte, error) { return sut.Plain(s) }

// Evaluate applies the readiness checks to a machine as the plan wants them.
func Evaluate(r CheckRequest) []Check { return check.Evaluate(r) }

// CheckRule is a check of a T, given the value that the plan wants.
type CheckRule[T any] = check.Rule[T]

// FixedCheck is what a rule runs that compares with no value of the plan.
func FixedCheck[T any](run func(T) (Check, bool)) func(T, any) (Check, bool) { return check.Fixed(run) }

// ApplyChecks holds a T against rules as the plan wants them.
func ApplyChecks[T any](rules []CheckRule[T], of T, wanted Wanted) []Check {
	return check.Apply(rules, of, wanted)
}

// CheckIDs names every check of a machine, in the order they are shown.
func CheckIDs() []string { return check.IDs() }

// IsMonitor tells programs that hold a GPU only to watch it.
func IsMonitor(program string) bool { return check.IsMonitor(program) }

// The kinds of change.
const (
	ChangeMoved    = check.Moved
	ChangeHappened = check.Happened
	ChangeListed   = check.Listed
)

// Drift compares two SUTs of one machine.
func Drift(before, after SUT) []Change { return check.Drift(before, after) }

// Remember fills what could not be read now with what was known before.
func Remember(before, now SUT) SUT { return check.Remember(before, now) }

// Settled gives a SUT with the GPU processes of a later look, those of a server that was started in between.
func Settled(before, now SUT) SUT { return check.Settled(before, now) }

// Live is this machine.
func Live() Host { return host.Live() }

// ReadImage asks the container engine what an image says of itself.
func ReadImage(ctx context.Context, h Host, name string) sut.Image {
	return engines.ReadImage(ctx, h, name)
}

// Legible takes out of the texts of a machine's document what would act on a terminal, for one that somebody else wrote.
func Legible(s *SUT) { sut.EachText(reflect.ValueOf(s).Elem(), host.Legible) }

// FromCapture opens a capture, a folder or a tar.gz. The function it gives removes what was unpacked.
func FromCapture(ctx context.Context, path string) (Host, func() error, error) {
	return host.FromCapture(ctx, path)
}

// Capture writes what the probes read of a host, and what later ones may ask, as a tar.gz that FromCapture opens, and that gives the same SUT. Serial numbers and the
// like become hashes; names of the host, addresses and secrets are cut.
func Capture(ctx context.Context, h Host, w io.Writer) error {
	_, err := capture(ctx, h, w)
	return err
}

// capture is Capture, and gives the SUT that the probes read meanwhile.
func capture(ctx context.Context, h Host, w io.Writer) (s SUT, err error) {
	err = host.Record(ctx, h, func(h Host) {
		s = Read(ctx, h, Program{})
		host.ReadMore(ctx, h)
	}, w)
	return s, err
}
