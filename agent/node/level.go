package node

import (
	"cmp"
	"fmt"
	"slices"

	"assay/probes"
	"assay/result"
)

// Memory comes back to its level within this: drivers keep some of it, and tell it rounded.
const (
	toleranceBytes = 512 << 20
	tolerancePart  = 100 // of the whole
)

// Level is what is in use of an accelerator before a server is started.
type Level struct {
	Device    string          // PCI address
	UsedBytes *int64          // nil where its driver does not tell
	Programs  []result.Holder // that used it then
	boot      string
}

// Levels takes the level of every accelerator. Those of which neither memory nor programs are known are left out.
func Levels(s probes.SUT) []Level {
	var list []Level
	for i, a := range s.Accelerators.Items {
		l := Level{Device: key(i, a), UsedBytes: bytesOf(a.VRAMUsedBytes), Programs: programs(a), boot: s.OS.BootHash.Value}
		if l.UsedBytes != nil || a.Processes.Unknown == "" {
			list = append(list, l)
		}
	}
	return list
}

// Held gives a mark for each accelerator on which memory or a program is left that was not there at its level. What cannot be read now is no
// reason to mark it, and after a reboot nothing is left.
func Held(levels []Level, now probes.SUT) []result.Mark {
	var marks []result.Mark
	for _, l := range levels {
		i, found := find(now, l.Device)
		if !found || rebooted(l.boot, now) {
			continue
		}
		a := now.Accelerators.Items[i]
		if held, is := l.exceeded(a); is {
			marks = append(marks, heldMark(i, l.Device, held, a.Processes.Unknown))
		}
	}
	return marks
}

// Release puts the levels before beside what is in use now.
func Release(levels []Level, now probes.SUT) []result.ReleasedDevice {
	list := []result.ReleasedDevice{}
	for _, l := range levels {
		d := result.ReleasedDevice{Device: l.Device, BeforeBytes: l.UsedBytes}
		if i, found := find(now, l.Device); found {
			d.AfterBytes = bytesOf(now.Accelerators.Items[i].VRAMUsedBytes)
		}
		list = append(list, d)
	}
	return list
}

// exceeded tells what of an accelerator is in use beyond its level. What programs took that used it before is theirs.
func (l Level) exceeded(a probes.Accelerator) (result.Held, bool) {
	held := result.Held{BeforeBytes: l.UsedBytes, UsedBytes: bytesOf(a.VRAMUsedBytes), Holders: []result.Holder{}}
	var theirs int64
	for _, p := range programs(a) {
		i := indexOf(l.Programs, p)
		switch {
		case i < 0 && !probes.IsMonitor(p.Name):
			held.Holders = append(held.Holders, p)
		case i >= 0 && p.Bytes != nil && l.Programs[i].Bytes != nil:
			theirs += max(0, *p.Bytes-*l.Programs[i].Bytes)
		}
	}
	return held, len(held.Holders) > 0 || over(held, theirs, a.VRAMBytes.Value)
}

func over(h result.Held, theirs, total int64) bool {
	return h.BeforeBytes != nil && h.UsedBytes != nil && *h.UsedBytes-*h.BeforeBytes-theirs > max(toleranceBytes, total/tolerancePart)
}

// indexOf finds a program among others; -1 where it is none of them. A number alone may have been given to another since.
func indexOf(list []result.Holder, p result.Holder) int {
	return slices.IndexFunc(list, func(h result.Holder) bool { return h.PID == p.PID && h.Name == p.Name })
}

// programs are those that use an accelerator, as far as they are told.
func programs(a probes.Accelerator) []result.Holder {
	list := []result.Holder{}
	for _, p := range a.Processes.Items {
		list = append(list, result.Holder{PID: p.PID.Value, Name: cmp.Or(p.Name.Value, "a program without a name"), Bytes: bytesOf(p.VRAMBytes)})
	}
	return list
}

func bytesOf(f probes.Fact[int64]) *int64 {
	n, known := f.Get()
	if !known {
		return nil
	}
	return &n
}

// key is an accelerator's address; one that has none is known by its number.
func key(i int, a probes.Accelerator) string { return cmp.Or(a.PCI.Address.Value, fmt.Sprint(i)) }

func find(s probes.SUT, device string) (int, bool) {
	for i, a := range s.Accelerators.Items {
		if key(i, a) == device {
			return i, true
		}
	}
	return 0, false
}

// rebooted tells that a look is of another boot than an earlier one; where either is not known, it is not.
func rebooted(boot string, now probes.SUT) bool {
	return boot != "" && now.OS.BootHash.Value != "" && boot != now.OS.BootHash.Value
}
