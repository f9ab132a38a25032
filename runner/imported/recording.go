package imported

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"assay/runner"
	"assay/runner/record"
)

// made is a recording that was made of a point.
type made struct {
	File    record.File
	EpochUS int64
	Reading runner.Reading
}

// record reads the source again and writes a recording of each point that has requests, below dir; the map is by the point's index.
func (f Found) record(dir, run string) (map[int]made, error) {
	if err := os.MkdirAll(filepath.Join(dir, runner.Folder), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of recordings: %w", err)
	}
	w := writers{found: f, dir: dir, run: run, open: map[int]*record.Writer{}}
	_, err := f.Format.Read(f.Source, w.add)
	out := map[int]made{}
	for i, writer := range w.open {
		file, closing := writer.Close()
		err = errors.Join(err, closing)
		file.Path = runner.Folder + "/" + f.Report.Points[i].Setting.ID + ".rec"
		out[i] = made{File: file, EpochUS: f.Spans[i].EpochUS}
	}
	if err != nil {
		return nil, err
	}
	for i, m := range out {
		if m.Reading, err = f.pass(i).File(filepath.Join(dir, m.File.Path)); err != nil {
			return nil, err
		}
		forget(f.Report.Points[i].Unknown, &m.Reading)
		out[i] = m
	}
	return out, nil
}

// pass is the reading that a point's recording gets.
func (f Found) pass(i int) runner.Pass {
	at := f.Report.Points[i].Setting
	return runner.Pass{Window: f.Spans[i].Window, Issue: f.Spans[i].Issue, Shape: shapeOf(at), MLPerf: true}
}

type writers struct {
	found    Found
	dir, run string
	open     map[int]*record.Writer
}

func (w *writers) add(point int, q record.Request) error {
	if point >= len(w.found.Spans) || w.found.Spans[point].Requests == 0 {
		return nil
	}
	out := w.open[point]
	if out == nil {
		id := w.found.Report.Points[point].Setting.ID
		var err error
		out, err = record.Create(filepath.Join(w.dir, runner.Folder, id+".rec"), record.Header{Run: w.run, Point: id, EpochUS: w.found.Spans[point].EpochUS, StampSource: "user"})
		if err != nil {
			return err
		}
		w.open[point] = out
	}
	for _, name := range []*string{&q.ID, &q.Session, &q.FinishReason} {
		clip(name)
	}
	shift(&q, w.found.Spans[point].StartUS)
	return out.Append(q)
}

// shift moves a request's times so that they count from an instant of the tool's clock.
func shift(q *record.Request, from int64) {
	for _, t := range []*int64{&q.IntendedUS, &q.SentUS, &q.FirstByteUS, &q.DoneUS} {
		if *t != record.Never {
			*t -= from
		}
	}
	for i := range q.Events {
		q.Events[i].AtUS -= from
	}
}
