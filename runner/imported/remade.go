package imported

import (
	"fmt"
	"slices"

	"assay/result"
)

// Kept are the files of a tool as a run keeps them, and the points that were made of them.
type Kept struct {
	Dir    string // file or folder of what the tool wrote
	Format string
	Run    string
	Points []result.Point
}

// Remake makes the recordings of the points again, below out, and gives the SHA-256 of each by its point's id. What is no file's word is taken
// from the points: their ids and settings, and the instant on UTC.
func (k Kept) Remake(out string) (map[string]string, error) {
	f, err := surveyOf(k.Dir, k.Format)
	if err != nil {
		return nil, err
	}
	if len(k.Points) == 1 && k.Points[0].Imported != nil && k.Points[0].Imported.Told != nil {
		p := Planned{At: Read(*k.Points[0].Imported.Told).Setting}
		i, err := p.only(&f)
		if err != nil {
			return nil, err
		}
		f.Report.Points[i].Setting = p.At
	}
	for i, span := range f.Spans {
		at := slices.IndexFunc(k.Points, func(p result.Point) bool { return p.ID == f.Report.Points[i].Setting.ID && p.Recording != nil })
		if at < 0 && span.Requests > 0 {
			return nil, fmt.Errorf("the files hold requests of point %s, which the result has no recording of", f.Report.Points[i].Setting.ID)
		}
		if at >= 0 {
			f.Spans[i].EpochUS = k.Points[at].Recording.EpochUS
		}
	}
	made, err := f.record(out, k.Run)
	if err != nil {
		return nil, err
	}
	sums := map[string]string{}
	for i, m := range made {
		sums[f.Report.Points[i].Setting.ID] = m.File.SHA256
	}
	return sums, nil
}
