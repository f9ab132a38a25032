package imported

import (
	"cmp"
	"slices"

	"assay/result"
)

// Points writes the recordings of the source below dir, and makes the points of a result of them.
func (f Found) Points(dir, run string) ([]result.Point, error) {
	recorded, err := f.record(dir, run)
	if err != nil {
		return nil, err
	}
	var points []result.Point
	for i := range f.Report.Points {
		m, ok := recorded[i]
		if !ok {
			points = append(points, f.told(i))
			continue
		}
		p, err := f.point(i, m)
		if err != nil {
			return nil, err
		}
		points = append(points, p)
	}
	apart := func(p result.Point) bool { return p.Context != nil || p.Phase != points[0].Phase }
	if !slices.ContainsFunc(points, apart) {
		slices.SortStableFunc(points, byLoad)
	}
	return points, nil
}

// byLoad orders points of one phase by their load, as files are ordered by name.
func byLoad(a, b result.Point) int {
	return cmp.Or(cmp.Compare(value(a.Concurrency), value(b.Concurrency)), cmp.Compare(value(a.Rate), value(b.Rate)))
}

func value[T int | float64](v *T) T {
	if v == nil {
		return 0
	}
	return *v
}

// told is a point of which the tool's own figures are all there is.
func (f Found) told(i int) result.Point {
	p := f.Report.Points[i]
	out := f.started(i)
	out.State, out.Reasons = Judge(p, 0, nil, p.Figures)
	return out
}

// started is a point with what does not come from its requests.
func (f Found) started(i int) result.Point {
	p := f.Report.Points[i]
	out := result.Point{ID: p.Setting.ID, Phase: p.Setting.Phase, Reasons: []result.Reason{}, Notes: p.Notes,
		Imported: &result.Imported{File: f.Kept + "/" + p.File, Figures: append([]Figure{}, p.Figures...)}}
	if p.Setting.Concurrency > 0 {
		out.Concurrency = &p.Setting.Concurrency
	}
	if p.Setting.Rate > 0 {
		out.Rate = &p.Setting.Rate
	}
	if p.Setting.Context > 0 {
		out.Context = &p.Setting.Context
	}
	return out
}

// point has the figures of a recording. Those of the whole time stand beside the tool's, which are of that; of a part of the requests none.
func (f Found) point(i int, m made) (result.Point, error) {
	p, span, r := f.Report.Points[i], f.Spans[i], m.Reading
	out := f.started(i)
	if !p.Unknown.Some {
		if err := beside(out.Imported.Figures, r.MLPerf); err != nil {
			return out, err
		}
	}
	out.Metrics, out.MLPerf, out.Warmup = &r.Metrics, r.MLPerf, (*result.Warmup)(r.Warmup)
	out.Imported.TokenSource = r.TokenSource
	out.Window = &result.Window{StartedUS: m.EpochUS + span.Window.StartUS, EndedUS: m.EpochUS + span.Window.EndUS,
		DurationS: float64(span.Window.EndUS-span.Window.StartUS) / 1e6}
	out.Recording = &result.Recording{Path: m.File.Path, SHA256: m.File.SHA256, Requests: m.File.Requests, Events: m.File.Events, EpochUS: m.EpochUS,
		WindowUS: [2]int64{span.Window.StartUS, span.Window.EndUS}, IssueUS: [2]int64{span.Issue.StartUS, span.Issue.EndUS}}
	out.State, out.Reasons = Judge(p, span.Rate, &r, out.Imported.Figures)
	return out, nil
}

// Times are when the tool began and ended; when its files do not tell, both are the instant given.
func (f Found) Times(unknownUS int64) (startedUS, endedUS int64) {
	for _, s := range f.Spans {
		if s.Requests == 0 {
			continue
		}
		from, to := s.EpochUS+s.Issue.StartUS, s.EpochUS+s.Issue.EndUS
		if startedUS == 0 || from < startedUS {
			startedUS = from
		}
		endedUS = max(endedUS, to)
	}
	if startedUS == 0 {
		return unknownUS, unknownUS
	}
	return startedUS, endedUS
}

// whose says who measured.
func (f Found) whose() string {
	version := f.Report.Version
	if version == "" {
		version = "of a version its files do not tell"
	}
	return "imported: measured by " + f.Format.Tool + " " + version + ", not by assay"
}

// Identity says who measured what, and what nobody knows of it.
func (f Found) Identity(machineKnown bool) result.Identity {
	r := f.Report
	notes := []string{f.whose()}
	if r.URL != "" {
		notes = append(notes, "the server was at "+r.URL+" and is unknown: its version, model files and settings are in no file of the tool")
	} else {
		notes = append(notes, "the server is unknown: the tool's files do not say where it was")
	}
	if machineKnown {
		notes = append(notes, "the machine is as the file given with --sut says; nothing shows that it is the one that was measured")
	} else {
		notes = append(notes, "the machine is unknown: `assay probe --json --out sut.json` there, and --sut sut.json here")
	}
	if !r.Wall {
		notes = append(notes, "the tool's clock has no date: when its file was written last stands for the end")
	}
	notes = append(notes, f.Warnings...)
	return result.Identity{Model: result.ModelIdentity{Name: r.Model, Served: r.Model}, Dataset: result.DatasetIdentity{Kind: "unknown"},
		Client: result.ClientIdentity{Kind: f.Format.Tool, Version: r.Version}, Notes: notes}
}
