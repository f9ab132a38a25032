package sut

import "slices"

// SchemaSUT is the schema name of the SUT document.
const SchemaSUT = "assay.sut/v1"

// Program names the program that wrote a document.
type Program struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
}

// SUT is the system under test as the probes saw it: the document `assay probe --json` prints.
type SUT struct {
	Schema       string            `json:"schema"`
	ProbedAtUS   int64             `json:"probed_at_us"` // UTC, microseconds
	Program      Program           `json:"program"`
	System       System            `json:"system"`
	CPU          CPU               `json:"cpu"`
	Memory       Memory            `json:"memory"`
	Accelerators List[Accelerator] `json:"accelerators"` // one per physical device, in the order of PCI addresses
	Interconnect Interconnect      `json:"interconnect"`
	Storage      Storage           `json:"storage"`
	Network      Network           `json:"network"`
	OS           OS                `json:"os"`
	Software     Software          `json:"software"`
	Power        Power             `json:"power"`
}

// Aside tells an integrated GPU of a machine that has cards too: it drives a screen, and is not what a benchmark runs on.
func (s SUT) Aside(a Accelerator) bool {
	return a.Kind.Value == "integrated" && slices.ContainsFunc(s.Accelerators.Items, func(b Accelerator) bool { return b.Kind.Value == "discrete" })
}
