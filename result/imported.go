package result

import "encoding/json"

// ImportSchema is the schema name of an Import.
const ImportSchema = "assay.import/v1"

// Import stands in the place of the plan in a run that assay did not measure: what is known of how another client did.
type Import struct {
	Schema string       `json:"schema"`
	Name   string       `json:"name"`
	Import ImportSource `json:"import"`

	Points []ImportPoint `json:"points"`
}

// ImportSource is who measured, and what it wrote.
type ImportSource struct {
	Format   string     `json:"format"`
	Tool     string     `json:"tool"`
	Version  string     `json:"version,omitempty"` // of the tool, where its files tell it
	Model    string     `json:"model,omitempty"`
	URL      string     `json:"url,omitempty"`
	Endpoint string     `json:"endpoint,omitempty"` // chat | completions
	Files    []Artifact `json:"files"`              // as they were given; in the run's folder below imported/
}

// ImportPoint is the setting of a point, and how many requests the tool says there were.
type ImportPoint struct {
	ID          string   `json:"id"`
	Phase       string   `json:"phase"`
	Concurrency int      `json:"concurrency,omitempty"`
	Rate        float64  `json:"rate,omitempty"`
	Context     int      `json:"context,omitempty"`
	File        string   `json:"file"`
	Issued      *int     `json:"issued,omitempty"`
	Completed   *int     `json:"completed,omitempty"`
	Failed      *int     `json:"failed,omitempty"`
	Active      *float64 `json:"active,omitempty"`  // requests in flight, mean over time, as the tool says
	Over        string   `json:"over,omitempty"`    // why the tool did not run it
	Unknown     []string `json:"unknown,omitempty"` // what its requests do not tell: gaps, tokens, queue, waits, some (requests)
}

// DecodeImport reads a run's plan as an Import; false when the run was measured by assay.
func DecodeImport(plan json.RawMessage) (Import, bool) {
	var i Import
	if err := json.Unmarshal(plan, &i); err != nil || i.Schema != ImportSchema {
		return Import{}, false
	}
	return i, true
}

// Imported is what a point has of the client that measured it.
type Imported struct {
	File        string   `json:"file"`                   // that tells of the point
	TokenSource string   `json:"token_source,omitempty"` // of the recording that was made of it
	Figures     []Figure `json:"figures"`

	// Of a point of a plan whose client is another program; of an imported run its Import says it.
	Format string       `json:"format,omitempty"` // how its files are read
	Tool   string       `json:"tool,omitempty"`
	Told   *ImportPoint `json:"told,omitempty"` // how many requests the tool says there were, and what its files do not tell
}

// Figure is a number as another client printed it, beside the one that assay makes of the same requests by the same formula.
type Figure struct {
	Name       string   `json:"name"`                // the tool's
	Metric     string   `json:"metric,omitempty"`    // id of the metric with the same formula; "" for none
	Statistic  string   `json:"statistic,omitempty"` // of a distribution: mean, p50, …
	Unit       string   `json:"unit"`
	Value      float64  `json:"value"`
	Formula    string   `json:"formula"`
	Population string   `json:"population"`
	Assay      *float64 `json:"assay,omitempty"` // of the recording; nil where there is none, or no such metric
}
