package report

import (
	"cmp"
	"io"

	"assay/probes"
	"assay/report/export"
	"assay/result"
)

// mlperfSystemFormat is the machine's part of the system_desc.json of MLPerf Endpoints.
func mlperfSystemFormat() Format {
	return Format{Name: "mlperf-system", ContentType: "application/json", Write: func(w io.Writer, in Input) error {
		return export.MLPerfSystem(w, *cmp.Or(in.Result.SUT.Before, unseen(in.Result)), in.Result)
	}}
}

// unseen is the machine of a run that has none, with the reason in every text that must be there.
func unseen(r result.Result) *probes.SUT {
	why := "the run ended before its machine was read"
	if _, imported := result.DecodeImport(r.Plan); imported {
		why = "no machine was given with --sut when the run was imported"
	}
	s := probes.SUT{Accelerators: probes.List[probes.Accelerator]{Unknown: why}}
	s.Network.Interfaces.Unknown, s.Storage.Filesystems.Unknown = why, why
	s.System.Product.Unknown, s.Memory.Summary.Unknown = why, why
	return &s
}
