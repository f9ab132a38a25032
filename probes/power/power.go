package power

import (
	"context"
	"time"

	"assay/probes/host"
	"assay/probes/redfish"
	"assay/probes/sut"
)

// Limit bounds Probe: a walk through a BMC's answers, then three questions to it by IPMI.
const Limit = 20 * time.Second

// Probe asks the BMC what it is, and what it knows of the power supplies: by Redfish, then by IPMI; the kernel's own meter is the last
// source of what is drawn. What the BMC says of the board, its BIOS and its memory is a second source.
func Probe(ctx context.Context, h host.Host, s *sut.SUT) error {
	bmc, redfishErr := redfish.Read(ctx, h)
	s.Power, s.System.BMC = bmc.Power, bmc.BMC
	s.System.Vendor, s.System.Product, s.System.BIOS.Version = bmc.Vendor, bmc.Product, bmc.BIOS
	s.Memory.InstalledBytes = bmc.InstalledBytes
	if redfishErr != nil || !s.System.BMC.IsKnown() || !s.Power.InputW.IsKnown() {
		readIPMI(ctx, h).fill(s)
	}
	s.Power.InputW = fallBack(s.Power.InputW, readMeter(h))
	return nil
}

// fallBack takes the second fact when the first is unknown; when neither is known, the reasons of both are told.
func fallBack[T any](first, second sut.Fact[T]) sut.Fact[T] {
	switch {
	case first.IsKnown():
		return first
	case second.IsKnown(), second.NA != "":
		return second
	}
	return sut.Unknown[T]("%s; %s", first.Reason(), second.Reason())
}
