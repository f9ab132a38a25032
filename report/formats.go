package report

import (
	"slices"
	"strings"

	"assay/fault"
	"assay/plan"
)

// Formats lists every way to write a report, the one for people at a terminal first.
func Formats() []Format {
	return []Format{
		textFormat(),
		htmlFormat(),
		jsonFormat(),
		csvFormat(),
		markdownFormat(),
		eventsFormat(),
		vllmFormat(),
		vllmJSONFormat(),
		inferenceBenchFormat(),
		mlperfSystemFormat(),
	}
}

// FormatsFor lists the formats that have something to tell of a run of the plan.
func FormatsFor(p plan.Plan) []Format {
	return slices.DeleteFunc(Formats(), func(f Format) bool { return f.Matrix && p.Protocol.Matrix == nil })
}

// FormatNamed finds a format; an unknown name is a fault that lists the known ones.
func FormatNamed(name string) (Format, error) {
	var known []string
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
		known = append(known, f.Name)
	}
	return Format{}, fault.New(fault.Plan, "unknown_format", "use one of: "+strings.Join(known, ", "), "there is no report format %q", name)
}
