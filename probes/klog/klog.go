package klog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// Probe reads the kernel's log by dmesg, or by journalctl where the kernel shows its buffer to root alone.
func Probe(ctx context.Context, h host.Host, s *sut.SUT) error {
	lines, source, err := read(ctx, h)
	if err != nil {
		s.OS.KernelLog = sut.List[sut.LogEvent]{Unknown: err.Error()}
		return nil
	}
	s.OS.KernelLog = sut.List[sut.LogEvent]{Items: Events(lines, source)}
	return nil
}

// read gives the log and the program that printed it.
func read(ctx context.Context, h host.Host) ([]byte, string, error) {
	var refused []string
	asked := h.Live // whether what is not there was not on the machine, or is not in the capture
	for _, argv := range [][]string{{"dmesg"}, {"journalctl", "-k", "-b", "-q", "--no-pager", "-o", "cat"}} {
		out, err := h.Run(ctx, argv...)
		if errors.Is(err, host.ErrNotFound) && !asked {
			refused = append(refused, argv[0]+" is not in the capture")
			continue
		}
		asked = true
		switch {
		case err != nil:
			refused = append(refused, err.Error())
		case out.Exit != 0 || len(out.Stdout) == 0: // a journal that this user may not see is empty
			why, _, _ := strings.Cut(strings.TrimSpace(string(out.Stderr)), "\n")
			refused = append(refused, strings.TrimSuffix(argv[0]+" gives nothing: "+why, ": "))
		default:
			return out.Stdout, strings.Join(argv, " "), nil
		}
	}
	why := strings.Join(refused, "; ")
	if strings.Contains(why, "not permitted") || strings.Contains(why, "denied") {
		return nil, "", fmt.Errorf("needs root, or the group adm (%s)", why)
	}
	return nil, "", errors.New(why)
}

// fault is a line that tells of one: its code, which a number in the line may follow, a word that each such line has, and the line. The word
// spares most lines the expression: a machine of many devices says tens of thousands.
type fault struct {
	code, word string
	line       *regexp.Regexp
}

// faults are looked for in this order; a line counts once.
func faults() []fault {
	list := []fault{}
	for _, f := range [][3]string{
		{"nvidia_xid_", "NVRM: ", `NVRM: Xid \(.*?\): (\d+)`},
		{"nvidia_fallen_off", "NVRM: ", `NVRM: .*fallen off the bus`},
		{"amdgpu_reset", "amdgpu", `amdgpu.*(?:GPU reset begin|kick off gpu reset)`},
		{"amdgpu_bad_pages", "bad pages", `amdgpu.*bad pages .*threshold`},
		{"amdgpu_ring_timeout", "timeout", `amdgpu.*ring \S+ timeout`},
		{"amdgpu_uncorrectable", "uncorrectable", `amdgpu.*uncorrectable`},
		{"amdgpu_poison", "amdgpu", `amdgpu.*(?i:poison is (?:created|consumed))`},
		{"amdgpu_hardware_error", "amdgpu", `amdgpu.*(?i:hardware error|Accelerator Check Architecture events logged)`},
		{"amdgpu_page_fault", "page fault", `amdgpu.*page fault`},
		{"amdgpu_preemption", "preemption failed", `(?:amdgpu|kfd).*[Qq]ueue preemption failed`},
		{"amdgpu_fence_timeout", "fence wait loop timeout", `(?:amdgpu|kfd).*fence wait loop timeout`},
		{"amdgpu_oversubscribed", "Runlist", `Runlist is getting oversubscribed`},
		{"machine_check", "mce: ", `mce: .*(?:Hardware Error|Machine check events logged)`},
		{"hardware_corrected", "Hardware Error]", `Hardware Error\]: event severity: corrected`},
		{"hardware_error", "Hardware Error]", `Hardware Error\]: event severity: (?:fatal|recoverable)`},
		{"memory_uncorrected", "EDAC ", `EDAC .*\b\d+ UE\b`},
		{"pcie_corrected", "orrect", `(?:AER: (?:Multiple )?Correct(?:ed|able) error|PCIe Bus Error: severity=Correct(?:ed|able))`},
		{"pcie_uncorrected", "ncorrect", `(?:AER: (?:Multiple )?Uncorrect(?:ed|able)|PCIe Bus Error: severity=Uncorrect(?:ed|able))`},
		{"iommu_page_fault", "AMD-Vi: ", `AMD-Vi: .*IO_PAGE_FAULT`},
		{"iommu_page_fault", "DMAR: ", `DMAR: .*fault addr`},
		{"disk_error", " error, dev ", `(?:blk_update_request: |: )(?:critical )?(?:I/O|medium) error, dev `},
		{"soft_lockup", "soft lockup", `(?:watchdog: BUG: )?soft lockup - CPU`},
		{"out_of_memory", "Out of memory", `Out of memory: Kill`},
	} {
		list = append(list, fault{f[0], f[1], regexp.MustCompile(f[2])})
	}
	return list
}

// forms are the expressions that every line, or every line that tells of a fault, is held against.
type forms struct {
	faults  []fault
	head    *regexp.Regexp // what stands before a line: the time, the level, the head of a record of /dev/kmsg
	address *regexp.Regexp // of a PCI device; NVIDIA's has no function
}

func newForms() forms {
	return forms{
		faults:  faults(),
		head:    regexp.MustCompile(`^(?:<\d+>)?(?:\d+,\d+,\d+,[^;]*;|\w+ *:\w+ *: (?:\S+T\S+ )?|\[[^\]]*\d\] )`),
		address: regexp.MustCompile(`\b([0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2})(\.[0-7])?\b`),
	}
}

// Events finds the faults in a log, each kind on each device once with its count and last line, in the order in which they came up first.
// It reads lines as dmesg prints them, with any form of time before them, and records of /dev/kmsg.
func Events(log []byte, source string) []sut.LogEvent {
	list, at, known := []sut.LogEvent{}, map[string]int{}, newForms()
	for line := range bytes.Lines(log) {
		text := known.message(string(line))
		code := known.codeOf(text)
		if code == "" {
			continue
		}
		device := known.deviceOf(text, source)
		key := code + " " + device.Value
		i, seen := at[key]
		if !seen {
			i = len(list)
			at[key] = i
			list = append(list, sut.LogEvent{Code: sut.Known(code, source), Device: device, Count: sut.Known(0, source)})
		}
		list[i].Count.Value++
		list[i].Line = sut.Known(text, source)
	}
	for i := range list { // at the end, and not at each of the lines of a flood
		list[i].Line.Value = host.Anonymous(short(list[i].Line.Value))
	}
	return list
}

func (f forms) codeOf(text string) string {
	for _, f := range f.faults {
		if !strings.Contains(text, f.word) {
			continue
		}
		if m := f.line.FindStringSubmatch(text); m != nil {
			return f.code + strings.Join(m[1:], "")
		}
	}
	return ""
}

// deviceOf takes the PCI address in a line.
func (f forms) deviceOf(text, source string) sut.Fact[string] {
	address := f.address.FindStringSubmatch(text)
	if address == nil {
		return sut.NA[string]("the line names no device")
	}
	if address[2] == "" {
		address[2] = ".0"
	}
	return sut.Known(strings.ToLower(address[1]+address[2]), source)
}

// message cuts what stands before a line.
func (f forms) message(line string) string {
	return strings.TrimSpace(f.head.ReplaceAllString(line, ""))
}

// short bounds a line; what is wrong stands at its beginning.
func short(s string) string {
	const most = 200
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
