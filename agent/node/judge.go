package node

import (
	"slices"

	"assay/probes"
	"assay/result"
)

// Judge looks at a node again: a mark goes when what it says is so no more, stays when it is still so or cannot be seen, and devices that
// are missed get one. Devices that are new are known from now on.
func Judge(n result.Node, now probes.SUT, atUS int64) result.Node {
	marks := []result.Mark{}
	for _, m := range n.Marks {
		if m.State != result.NodeDirty || rebooted(n.BootKey, now) {
			continue
		}
		if again, still := heldStill(m, now); still {
			marks = append(marks, again)
		}
	}
	gone, seen := missed(n.Devices, now)
	if !seen {
		gone = ofState(n.Marks, result.NodeUnfit)
	}
	return settle(n, append(marks, gone...), now, atUS)
}

// Mark adds to a node what a run left or found.
func Mark(n result.Node, found []result.Mark, now probes.SUT, run string, atUS int64) result.Node {
	found = slices.Clone(found)
	for i := range found {
		found[i].Run = run
	}
	return settle(n, append(slices.Clone(n.Marks), found...), now, atUS)
}

// Accept is a node with the accelerators that answer now, and nothing against it.
func Accept(now probes.SUT, atUS int64) result.Node {
	return settle(result.Node{}, nil, now, atUS)
}

// settle gives a node its marks, each once; one that was there before keeps since when and by which run.
func settle(n result.Node, marks []result.Mark, now probes.SUT, atUS int64) result.Node {
	out := result.Node{Marks: []result.Mark{}, Devices: known(n.Devices, now, atUS), SeenUS: atUS, BootKey: now.OS.BootHash.Value}
	for _, m := range marks {
		if i := slices.IndexFunc(n.Marks, sameAs(m)); i >= 0 {
			m.SinceUS, m.Run = n.Marks[i].SinceUS, n.Marks[i].Run
		}
		if m.SinceUS == 0 {
			m.SinceUS = atUS
		}
		if !slices.ContainsFunc(out.Marks, sameAs(m)) {
			out.Marks = append(out.Marks, m)
		}
	}
	if out.Devices == nil {
		out.Devices = []result.Device{}
	}
	out.State = stateOf(out.Marks)
	return out
}

// heldStill looks at a dirty mark again. Programs that came since are not its own, nor is what they hold.
func heldStill(m result.Mark, now probes.SUT) (result.Mark, bool) {
	i, found := find(now, m.Device)
	if !found || m.Held == nil {
		return m, true
	}
	a := now.Accelerators.Items[i]
	l := Level{Device: m.Device, UsedBytes: m.Held.BeforeBytes}
	for _, p := range programs(a) {
		if indexOf(m.Held.Holders, p) < 0 {
			if p.Bytes != nil {
				p.Bytes = new(int64) // they held nothing then
			}
			l.Programs = append(l.Programs, p)
		}
	}
	if a.VRAMUsedBytes.Unknown != "" && m.Held.UsedBytes != nil || a.Processes.Unknown != "" && len(m.Held.Holders) > 0 {
		return m, true // it cannot be seen
	}
	held, still := l.exceeded(a)
	return heldMark(i, m.Device, held, a.Processes.Unknown), still
}

func ofState(marks []result.Mark, state result.NodeState) (list []result.Mark) {
	for _, m := range marks {
		if m.State == state {
			list = append(list, m)
		}
	}
	return list
}

// Changes gives the marks that are new, and those that are gone.
func Changes(before, after result.Node) (added, removed []result.Mark) {
	for _, m := range after.Marks {
		if !slices.ContainsFunc(before.Marks, sameAs(m)) {
			added = append(added, m)
		}
	}
	for _, m := range before.Marks {
		if !slices.ContainsFunc(after.Marks, sameAs(m)) {
			removed = append(removed, m)
		}
	}
	return added, removed
}
