package delay

// Due keeps how late things were by when they were due.
type Due struct{ all []late }

type late struct{ dueUS, us int64 }

// Add keeps one.
func (d *Due) Add(dueUS, us int64) { d.all = append(d.all, late{dueUS, us}) }

// From gives those that were due from an instant on and before another.
func (d *Due) From(startUS, endUS int64) (us []int64) {
	for _, l := range d.all {
		if l.dueUS >= startUS && l.dueUS < endUS {
			us = append(us, l.us)
		}
	}
	return us
}

// All gives them all.
func (d *Due) All() []int64 {
	us := make([]int64, len(d.all))
	for i, l := range d.all {
		us[i] = l.us
	}
	return us
}
