package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// checkDiskSpace looks at the file system that holds the model, or at the one with the most free space when the plan names no path. Fails where
// the plan's path is not there, and warns below 20 GiB, which hold a small model and the results. Takes the least free GiB, and fails below.
func checkDiskSpace(r Request, want any) (Check, bool) {
	least, isNumber := atLeast(want, 20)
	if !isNumber {
		return misfit(want, "the least free GiB"), true
	}
	if r.ModelGone {
		return noModel(r), true
	}
	f, why := roomOf(r)
	if why != "" {
		return unclear(why), true
	}
	evidence, free := freeSpace(r.SUT), host.SizeText(f.FreeBytes.Value)
	if float64(f.FreeBytes.Value) < least*gib {
		return warn(fmt.Sprintf("At most %s are free (%s), below %g GiB.", free, f.Mount.Value, least), evidence...), true
	}
	return ok(fmt.Sprintf("%s are free on %s.", free, f.Mount.Value), evidence...), true
}

// noModel is the answer where the plan's model is not there to be looked at.
func noModel(r Request) Check {
	return fail("The model is not there: " + r.ModelPath + " does not exist on this machine.").because("Put the model there, or correct model.path in the plan.")
}

func freeSpace(s sut.SUT) (evidence []string) {
	for _, f := range s.Storage.Filesystems.Items {
		if f.FreeBytes.IsKnown() && f.Bytes.IsKnown() {
			evidence = append(evidence, fmt.Sprintf("%s %s free of %s", f.Mount.Value, host.SizeText(f.FreeBytes.Value), host.SizeText(f.Bytes.Value)))
		}
	}
	return evidence
}

// roomOf gives the file system whose free space counts, or why there is none.
func roomOf(r Request) (room sut.Filesystem, why string) {
	list := r.SUT.Storage.Filesystems
	if list.Unknown != "" {
		return room, list.Unknown
	}
	better, why := moreFree, "no file system tells its free space"
	if r.ModelPath != "" {
		better = func(a, b sut.Filesystem) bool { return len(a.PlaceOf(r.ModelPath)) > len(b.PlaceOf(r.ModelPath)) }
		why = "no file system is known to hold " + r.ModelPath
	}
	found := false
	for _, f := range list.Items {
		if r.ModelPath != "" && f.PlaceOf(r.ModelPath) == "" {
			continue
		}
		if !found || better(f, room) {
			room, found = f, true
		}
	}
	switch {
	case !found:
		return room, why
	case !room.FreeBytes.IsKnown():
		return room, room.FreeBytes.Reason()
	}
	return room, ""
}

func moreFree(a, b sut.Filesystem) bool {
	return a.FreeBytes.IsKnown() && (!b.FreeBytes.IsKnown() || a.FreeBytes.Value > b.FreeBytes.Value)
}

// checkDiskKind looks at what the model is read from. Warns of a network file system and of disks that turn, and
// fails where the plan's path is not there. Takes the wanted kind, such as
// nvme, and fails on another.
func checkDiskKind(r Request, want any) (Check, bool) {
	f, why := roomOf(r)
	switch {
	case r.ModelPath == "" && want == nil:
		return Check{}, false
	case r.ModelGone:
		return noModel(r), true
	}
	what := "The model lies on"
	if r.ModelPath == "" {
		what = "The plan names no model's path; the most free space is on"
	}
	if why != "" || !f.Stack.IsKnown() || len(f.Stack.Value) == 0 {
		return unclear(cmp.Or(why, f.Stack.Reason())), true
	}
	stack := f.Stack.Value
	kind, text := stack[len(stack)-1], strings.Join(stack, " on ")
	evidence := []string{show("storage.filesystems["+f.Mount.Value+"].stack", f.Stack)}
	good := !slices.Contains([]string{"hdd", "nfs", "nfs4", "cifs", "fuse", "9p"}, kind)
	if want != nil {
		good = kind == fmt.Sprint(want)
	}
	if !good {
		return warn(fmt.Sprintf("%s %s (%s).", what, text, f.Mount.Value), evidence...), true
	}
	return ok(fmt.Sprintf("%s %s (%s).", what, text, f.Mount.Value), evidence...), true
}

// checkDiskHealth looks at arrays that lack members and at what drives say of themselves. Fails on a degraded array below the model's file
// system (or any, without a plan), on a drive's own bad verdict, a critical warning, and a controller that is not live; warns of media errors.
func checkDiskHealth(r Request) (Check, bool) {
	evidence, state, asked, known, why := []string{}, OK, 0, 0, ""
	room, noRoom := roomOf(r)
	for _, f := range r.SUT.Storage.Filesystems.Items {
		matters := r.ModelPath == "" || noRoom != "" || f.Mount.Value == room.Mount.Value
		if n, told := f.Degraded.Get(); told && n > 0 && matters {
			state = Fail
			evidence = append(evidence, show("storage.filesystems["+f.Mount.Value+"].degraded", f.Degraded))
		}
	}
	for i, d := range r.SUT.Storage.Devices.Items {
		asked++
		name := cmp.Or(d.Name.Value, fmt.Sprint(i))
		s, told := driveState(d.Health)
		if told {
			known++
		} else {
			why = d.Health.Passed.Reason()
		}
		state = worse(state, s)
		if s != OK || !told {
			evidence = append(evidence, fmt.Sprintf("%s: passed %s, critical warning %s, state %s, media errors %s",
				name, brief(d.Health.Passed), brief(d.Health.CriticalWarning), brief(d.Health.State), brief(d.Health.MediaErrors)))
		}
	}
	switch {
	case r.SUT.Storage.Devices.Unknown != "":
		return unclear(r.SUT.Storage.Devices.Unknown), true
	case state == Fail:
		return fail("A drive or an array is not sound.", evidence...), true
	case state == Warn:
		return warn("A drive counts media errors.", evidence...), true
	case asked == 0:
		return Check{}, false
	case known < asked:
		return unclear(fmt.Sprintf("%d of %d drives do not tell their health: %s", asked-known, asked, why), evidence...), true
	}
	return ok(fmt.Sprintf("All %d drives call themselves sound.", asked), evidence...), true
}

// driveState judges one drive, and tells whether it said anything of itself but that its controller lives.
func driveState(h sut.Health) (State, bool) {
	state := OK
	if h.State.IsKnown() && h.State.Value != "live" && h.State.Value != "running" || h.Passed.IsKnown() && !h.Passed.Value || h.CriticalWarning.Value != 0 {
		state = Fail
	} else if h.MediaErrors.Value > 0 {
		state = Warn
	}
	return state, h.Passed.IsKnown() || h.CriticalWarning.IsKnown() || h.State.IsKnown()
}
