package served

import (
	"strings"

	"assay/report/figure"
	"assay/report/machine"
	"assay/result"
)

// Model is the chapter on the model and the data that was sent to it. name is the model's in the report.
func Model(name string, s Server, r result.Result) machine.Chapter {
	m, d := r.Identity.Model, r.Identity.Dataset
	average, otherwise := averageInput(r.Points)
	return machine.Chapter{Name: "Model and dataset", Lines: []machine.Line{
		machine.Stated("Model", strings.TrimSpace(name+" "+m.Revision), "plan and the server's model list", "no server told its model"),
		precision(s),
		machine.Stated("Model link", hubLink(m), "name and revision in the plan", "the model has no hub name with a revision"),
		machine.Stated("Calibration link", "", "", "neither plan nor server tells of calibration data"),
		machine.Stated("Dataset", strings.TrimSpace(d.Kind+" "+d.Path), "plan", "the run never came to its dataset"),
		machine.Stated("Dataset type", "performance", "this protocol measures speed; accuracy is measured apart", ""),
		machine.Stated("Average input tokens", average, "input_tokens / requests_completed, summed over the points", otherwise),
		machine.Stated("Dataset SHA-256", d.SHA256, "the data that was sent", "no data was read"),
		machine.Stated("Dataset link", "", "", "data is pinned by its SHA-256; where it can be had is for a person to say"),
	}}
}

// hubLink is where a model that a plan pins to a revision of the hub lies.
func hubLink(m result.ModelIdentity) string {
	owner, name, named := strings.Cut(m.Name, "/")
	if m.Path != "" || m.Revision == "" || !named || owner == "" || name == "" || strings.ContainsAny(name, "/:") {
		return ""
	}
	return "https://huggingface.co/" + m.Name + "/tree/" + m.Revision
}

// averageInput is the mean prompt by the server's count over all points of a run whose points ask alike, or why it is not known.
func averageInput(points []result.Point) (average, otherwise string) {
	var tokens, requests float64
	for _, p := range points {
		if p.Context != nil {
			return "", "each context of a matrix has its own; see the points"
		}
		if s := p.Metrics; s != nil && s.InputTokens != nil {
			tokens, requests = tokens+float64(*s.InputTokens), requests+float64(s.RequestsCompleted)
		}
	}
	if requests == 0 {
		return "", "the server told of no prompt how many tokens it has"
	}
	return figure.Hundred(tokens / requests), ""
}
