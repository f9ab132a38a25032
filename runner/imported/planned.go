package imported

import (
	"errors"
	"path/filepath"

	"assay/fault"
	"assay/plan"
	"assay/result"
	"assay/runner"
)

// Planned is a point of a plan whose client is another program.
type Planned struct {
	Dir string // the run's folder
	Run string
	At  plan.Point
	By  runner.Foreign
}

// Measured is what is made of what the program wrote.
type Measured struct {
	Point   result.Point
	Reading *runner.Reading // of its recording; nil where the tool lists no single requests
	Unknown Unknown
	Version string // of the tool, where its files tell it
}

// clockSlackUS is by how much the times of a tool may lie outside its own life.
const clockSlackUS = 1_000_000

// Import reads what the program wrote of the point as `assay import` does, writes its recording, and judges it by the same rules.
func (p Planned) Import() (Measured, error) {
	f, i, err := p.find()
	if err != nil {
		return Measured{}, err
	}
	clock := p.date(&f, i)
	point := &f.Report.Points[i]
	point.Setting = p.At
	if p.At.Phase == plan.PhaseServe {
		point.Setting.Concurrency = 0 // a bound of the open loop, not a load that is held
	}
	recorded, err := f.record(p.Dir, p.Run)
	if err != nil {
		return Measured{}, err
	}
	m := Measured{Point: f.told(i), Unknown: point.Unknown, Version: f.Report.Version}
	if made, ok := recorded[i]; ok {
		if m.Point, err = f.point(i, made); err != nil {
			return m, err
		}
		m.Reading = &made.Reading
	}
	m.Point.Notes = append(append(m.Point.Notes, clock...), f.Warnings...)
	said := written(*point)
	m.Point.Imported.Format, m.Point.Imported.Tool, m.Point.Imported.Told = f.Format.Name, f.Format.Tool, &said
	return m, nil
}

// find reads the tool's files for the first time, and says which of its measurements is the point.
func (p Planned) find() (Found, int, error) {
	f, err := surveyOf(filepath.Join(p.Dir, p.By.Dir, p.By.Results), p.By.Format)
	if err != nil {
		return f, 0, p.without(err)
	}
	if f.Kept = p.By.Dir; filepath.Ext(p.By.Results) == "" {
		f.Kept += "/" + p.By.Results
	}
	i, err := p.only(&f)
	if err != nil {
		return f, 0, p.without(err)
	}
	return f, i, nil
}

// surveyOf reads a tool's file or folder for the first time.
func surveyOf(path, format string) (Found, error) {
	src, err := Open(path)
	if err != nil {
		return Found{}, err
	}
	known, own, err := Find(src, format)
	if err != nil {
		return Found{}, err
	}
	return Survey(known, own)
}

// only says which of the measurements in a tool's files is the point; the others are forgotten.
func (p Planned) only(f *Found) (int, error) {
	found := -1
	for i, one := range f.Report.Points {
		if !p.same(one.Setting) {
			f.Spans[i] = Span{} // a scout's or a warm-up's: no recording is made of it
			continue
		}
		if found >= 0 {
			return 0, errors.New("there are two measurements of the point")
		}
		found = i
	}
	if found < 0 {
		return 0, errors.New("it measured another setting")
	}
	return found, nil
}

// same says that a tool's measurement is of the point. What it does not tell is no contradiction.
func (p Planned) same(at plan.Point) bool {
	agree := func(asked, told int) bool { return asked == 0 || told == 0 || asked == told }
	if p.At.Context > 0 && at.Phase != p.At.Phase {
		return false
	}
	return agree(p.At.Concurrency, at.Concurrency) && agree(p.At.Context, at.Context)
}

// without is the fault of a program that ended well and left nothing that can be read.
func (p Planned) without(err error) error {
	return fault.New(fault.Client, "no_result", "look at what it wrote in the run's folder, below "+p.By.Dir, "the client %s left no result of point %s: %w", p.By.Kind, p.At.ID, err)
}

// date puts times of a clock without a date on UTC. Most tools count on the machine's monotonic clock; one that does not is told by its
// times, which then lie outside its own life.
func (p Planned) date(f *Found, i int) (notes []string) {
	s := &f.Spans[i]
	if f.Report.Wall || s.Requests == 0 {
		return nil
	}
	from := s.StartUS + p.By.ClockUS
	if from >= p.By.StartedUS-clockSlackUS && from+s.EndUS-s.StartUS <= p.By.EndedUS+clockSlackUS {
		s.EpochUS = from
		return nil
	}
	return []string{"the tool's clock has no date: when its file was written last stands for the end"}
}
