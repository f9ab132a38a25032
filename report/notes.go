package report

import (
	"slices"
	"strings"

	"assay/report/figure"
	"assay/report/point"
	"assay/result"
)

// labelled is how many points a note names before it counts them.
const labelled = 4

// Notes are what the client noticed at the points of a run and a reader should know, with the points it is of, in their order: lines of a
// dataset that could not be used, fields that the server refused. What several points share is told once.
func Notes(r result.Result) []string {
	var texts []string
	where := map[string][]string{}
	for _, p := range r.Points {
		for _, n := range p.Notes {
			if !slices.Contains(texts, n) {
				texts = append(texts, n)
			}
			where[n] = append(where[n], point.Label(p))
		}
	}
	for i, n := range texts {
		at := strings.Join(where[n], ", ")
		if len(where[n]) > labelled {
			at = figure.Plural(len(where[n]), "point")
		}
		texts[i] = at + ": " + n
	}
	return texts
}
