package leftover

import (
	"context"
	"slices"
	"strconv"
	"time"

	"assay/containers/mark"
)

// reapGrace is how long what was left may take to end by itself.
const reapGrace = 3 * time.Second

// Processes ends what a killed program of the same owner left running.
func Processes(ctx context.Context, s Search) (f Found) {
	lost := mark.Lost{Mark: mark.Mark{Owner: s.Owner}, Sessions: map[mark.Session]mark.Mark{}}
	for _, i := range s.Expected {
		if i.Session != nil {
			lost.Sessions[*i.Session] = mark.Mark{Owner: s.Owner, Run: i.Run, Role: i.Role}
		}
	}
	found, err := mark.End(ctx, lost, reapGrace)
	if err == nil {
		f.Removed = leftOf(found, "")
		f.Absent = slices.Clone(s.Expected)
		return f
	}
	f.Failed = err
	left, _ := lost.Processes()
	f.Stuck = leftOf(left, "it does not end even when killed")
	for _, p := range found {
		if !slices.ContainsFunc(left, func(l mark.Process) bool { return l.PID == p.PID }) {
			f.Removed = append(f.Removed, leftOf([]mark.Process{p}, "")...)
		}
	}
	for _, i := range s.Expected {
		if !slices.ContainsFunc(f.Stuck, func(l Left) bool { return l.Name == i.Name }) {
			f.Absent = append(f.Absent, i)
		}
	}
	return f
}

// leftOf names processes as the journal does: all that a role of a run started is one entry there.
func leftOf(ps []mark.Process, trouble string) (out []Left) {
	for _, p := range ps {
		i := Intent{Run: p.Mark.Run, Role: p.Mark.Role, Runtime: "process", Name: Name(p.Mark.Run, p.Mark.Role), ID: strconv.Itoa(p.PID), Trouble: trouble}
		out = append(out, Left{Intent: i, State: "running"})
	}
	return out
}
