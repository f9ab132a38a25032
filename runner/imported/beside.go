package imported

import (
	"encoding/json"
	"math"

	"assay/runner/metrics"
)

// beside sets the value that assay has for each figure, from the summary of the same population.
func beside(figures []Figure, s *metrics.Summary) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	var ours map[string]any
	if err := json.Unmarshal(b, &ours); err != nil {
		return err
	}
	for i, f := range figures {
		v, ok := ours[f.Metric]
		if inner, is := v.(map[string]any); is {
			v, ok = inner[f.Statistic]
		}
		if n, is := v.(float64); ok && is && f.Metric != "" {
			figures[i].Assay = &n
		}
	}
	return nil
}

// off is by how much a figure differs from assay's; 0 where there is none to compare.
func off(f Figure) float64 {
	if f.Assay == nil {
		return 0
	}
	return math.Abs(f.Value-*f.Assay) / math.Max(math.Abs(*f.Assay), 1e-9)
}
