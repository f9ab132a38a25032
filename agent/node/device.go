package node

import (
	"fmt"
	"slices"
	"strings"

	"assay/probes"
	"assay/result"
)

// known adds to the devices that a node has those that answer now. One that is gone stays, so that it is missed.
func known(had []result.Device, now probes.SUT, atUS int64) []result.Device {
	list := slices.Clone(had)
	for i, a := range now.Accelerators.Items {
		if usable, told := a.Usable.Get(); told && !usable {
			continue
		}
		d := result.Device{Address: key(i, a), Vendor: a.Vendor.Value, Name: a.Name.Value, SerialHash: a.SerialHash.Value, VRAMBytes: a.VRAMBytes.Value, SeenUS: atUS}
		at := slices.IndexFunc(list, func(h result.Device) bool { return same(h, d) })
		switch {
		case at < 0 && !slices.ContainsFunc(list, func(h result.Device) bool { return h.Address == d.Address }):
			list = append(list, d)
		case at >= 0:
			list[at] = fill(d, list[at])
		}
	}
	return list
}

// same tells one device at two looks: by its number where both tell it, which finds it in another slot too, else by its place.
func same(a, b result.Device) bool {
	if a.SerialHash != "" && b.SerialHash != "" {
		return a.SerialHash == b.SerialHash
	}
	return a.Address == b.Address
}

// fill keeps of a device what is not told this time.
func fill(now, had result.Device) result.Device {
	if now.SerialHash == "" {
		now.SerialHash = had.SerialHash
	}
	if now.VRAMBytes == 0 {
		now.VRAMBytes = had.VRAMBytes
	}
	if now.Name == "" {
		now.Name = had.Name
	}
	return now
}

// missed gives a mark for each known device that is gone, does not answer, or has another in its place. false: the list of accelerators could
// not be read, which says nothing of them.
func missed(had []result.Device, now probes.SUT) ([]result.Mark, bool) {
	if now.Accelerators.Unknown != "" {
		return nil, false
	}
	var marks []result.Mark
	for _, d := range had {
		code, text := fate(d, now)
		if code == "" {
			continue
		}
		marks = append(marks, result.Mark{State: result.NodeUnfit, Code: code, Device: d.Address, Text: text, Evidence: logged(d.Address, now),
			Hint: "look at dmesg for what the driver says of " + d.Address + "; a reset of the GPU, a reboot or a power cycle may bring it back"})
	}
	return marks, true
}

// fate is what became of a device; "" when it is there and answers.
func fate(d result.Device, now probes.SUT) (code, text string) {
	what := strings.TrimSpace(d.Vendor+" "+strings.TrimPrefix(d.Name, d.Vendor+" ")) + " at " + d.Address
	for i, a := range now.Accelerators.Items {
		seen := result.Device{Address: key(i, a), SerialHash: a.SerialHash.Value}
		if !same(d, seen) {
			continue
		}
		if usable, told := a.Usable.Get(); told && !usable {
			return result.MarkGPULost, fmt.Sprintf("%s does not answer any more: %s", what, a.Usable.Source)
		}
		if d.VRAMBytes > 0 && a.VRAMBytes.Unknown != "" {
			return result.MarkGPULost, fmt.Sprintf("%s does not tell its memory any more: %s", what, a.VRAMBytes.Unknown)
		}
		return "", ""
	}
	if _, found := find(now, d.Address); found {
		return result.MarkGPUChanged, what + " is not the one that was there before"
	}
	return result.MarkGPUMissing, what + " is not on the bus any more"
}

// logged is what the kernel's log says of a device.
func logged(address string, now probes.SUT) string {
	var lines []string
	for _, e := range now.OS.KernelLog.Items {
		if e.Device.Value == address {
			lines = append(lines, e.Line.Value)
		}
	}
	return strings.Join(lines, "; ")
}
