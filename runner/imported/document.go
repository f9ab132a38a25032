package imported

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"assay/plan"
	"assay/result"
	"assay/runner"
	"assay/runner/imported/tool"
)

// Folder is where the tool's files lie, relative to the run's folder.
const Folder = "imported"

// Document is what stands in the place of the plan, in its one byte form, and its hash.
func (f Found) Document(files []result.Artifact) (document []byte, sum string, err error) {
	r := f.Report
	d := result.Import{Schema: result.ImportSchema, Name: f.Name(), Import: result.ImportSource{
		Format: f.Format.Name, Tool: f.Format.Tool, Version: r.Version, Model: r.Model, URL: r.URL, Endpoint: r.Endpoint, Files: files}}
	for _, p := range r.Points {
		d.Points = append(d.Points, written(p))
	}
	document, err = json.Marshal(d)
	if err != nil {
		return nil, "", fmt.Errorf("write down what was imported: %w", err)
	}
	return document, fmt.Sprintf("%x", sha256.Sum256(document)), nil
}

// written is a point as a document has it.
func written(p Point) result.ImportPoint {
	at := p.Setting
	return result.ImportPoint{ID: at.ID, Phase: at.Phase, Concurrency: at.Concurrency, Rate: at.Rate, Context: at.Context,
		File: p.File, Issued: p.Told.Issued, Completed: p.Told.Completed, Failed: p.Told.Failed, Active: p.Told.Active, Over: p.Over, Unknown: p.Unknown.Words()}
}

// Name is what the run is called.
func (f Found) Name() string {
	if f.Report.Model != "" {
		return f.Report.Model + ", imported from " + f.Format.Tool
	}
	return "imported from " + f.Format.Tool
}

// PointOf is a point of an import document; false when it has none of this id.
func PointOf(d result.Import, id string) (Point, bool) {
	i := slices.IndexFunc(d.Points, func(p result.ImportPoint) bool { return p.ID == id })
	if i < 0 {
		return Point{}, false
	}
	return Read(d.Points[i]), true
}

// Read is a point as a document has it.
func Read(p result.ImportPoint) Point {
	return Point{Setting: plan.Point{ID: p.ID, Phase: p.Phase, Concurrency: p.Concurrency, Rate: p.Rate, Context: p.Context}, File: p.File, Over: p.Over,
		Told: tool.Told{Issued: p.Issued, Completed: p.Completed, Failed: p.Failed, Active: p.Active}, Unknown: tool.UnknownOf(p.Unknown)}
}

// Forget takes out of what was read again of a point's recording what its requests do not tell.
func Forget(p Point, r *runner.Reading) { forget(p.Unknown, r) }
