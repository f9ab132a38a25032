package node

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/fault"
	"assay/result"
)

// heldMark says who holds what of the accelerator of this number; unlisted is why its programs are not known.
func heldMark(number int, device string, h result.Held, unlisted string) result.Mark {
	m := result.Mark{State: result.NodeDirty, Code: result.MarkMemoryHeld, Device: device, Held: &h}
	more := int64(0)
	if h.BeforeBytes != nil && h.UsedBytes != nil {
		more = *h.UsedBytes - *h.BeforeBytes
		m.Evidence = fmt.Sprintf("accelerators[%s].vram_used_bytes: %d → %d", device, *h.BeforeBytes, *h.UsedBytes)
	}
	what := fmt.Sprintf("GPU %d (%s) holds %s more than before the run", number, device, gib(more))
	if more <= toleranceBytes {
		m.Code, what = result.MarkProcessLeft, fmt.Sprintf("GPU %d (%s) is used", number, device)
	}
	if len(h.Holders) == 0 {
		m.Text = what + ", and no process shows it"
		if unlisted != "" {
			m.Text = what + ", and who holds it is not known: " + unlisted
		}
		m.Hint = "memory that no process holds comes back by a reset of the GPU or a reboot; look at dmesg, and for processes of other containers"
		return m
	}
	m.Text = what + ", by " + names(h.Holders, true)
	m.Hint = "end " + names(h.Holders, false) + "; one that does not end even by SIGKILL hangs in the driver, and only a reboot ends it"
	return m
}

// names lists programs, with what each holds or without.
func names(list []result.Holder, amounts bool) string {
	var texts []string
	for _, p := range list {
		text := fmt.Sprintf("pid %d %s", p.PID, fault.Printable(p.Name))
		if amounts && p.Bytes != nil {
			text += " (" + gib(*p.Bytes) + ")"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

func gib(n int64) string { return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30)) }

// Waiting is what the wait for memory shows while it lasts.
func Waiting(marks []result.Mark) string {
	var texts []string
	for _, m := range marks {
		texts = append(texts, m.Text)
	}
	return "waiting for GPU memory: " + strings.Join(texts, "; ")
}

// Refusal is why a node takes no run; nil when it does.
func Refusal(n result.Node) error {
	if n.State == result.NodeReady {
		return nil
	}
	var texts, hints []string
	for _, m := range n.Marks {
		if m.State != n.State {
			continue
		}
		texts = append(texts, m.Text)
		if m.Hint != "" && !slices.Contains(hints, m.Hint) {
			hints = append(hints, m.Hint)
		}
	}
	hints = append(hints, "then run again, it is looked at anew; `assay node accept` takes the machine as it is now")
	what := "an accelerator is not as it was"
	if n.State == result.NodeDirty {
		what = "memory of an earlier run has not come back"
	}
	return fault.New(fault.Preflight, "node_"+string(n.State), strings.Join(hints, "; "), "%s: %s", what, strings.Join(texts, "; "))
}

// stateOf is the gravest state of the marks.
func stateOf(marks []result.Mark) result.NodeState {
	state := result.NodeReady
	for _, m := range marks {
		if m.State == result.NodeUnfit {
			return result.NodeUnfit
		}
		state = cmp.Or(m.State, state)
	}
	return state
}

// sameAs tells marks that say the same of one device. Memory and the program that held it are one thing.
func sameAs(m result.Mark) func(result.Mark) bool {
	return func(o result.Mark) bool {
		return o.State == m.State && o.Device == m.Device && (o.Code == m.Code || m.State == result.NodeDirty)
	}
}
