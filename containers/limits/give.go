package limits

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types/container"

	"assay/fault"
)

// Wanted is what a container is to get beside the usual.
type Wanted struct {
	Ulimits      map[string]string // by the plan
	Wishes       map[string]string // by the preset of the server
	Devices      []string          // device files, or folders of them
	Capabilities []string
	SecurityOpt  []string
	Privileged   bool
	CPUSet       bool // CPUs or memory nodes
}

// Given is what the engine is asked for.
type Given struct {
	Ulimits      []*container.Ulimit
	Devices      []string // device files
	Capabilities []string // as the engine writes them: without CAP_
	SecurityOpt  []string
	Remarks      []string // what the preset would like and the engine cannot give
}

// Give holds what is wanted against what the engine can give. What the plan asks for and cannot have is an error that names all of it; what only the
// preset would like is given as far as it goes, with a remark. Devices are looked for below root.
func (e Engine) Give(root string, w Wanted) (Given, error) {
	var g Given
	var refused []error
	keep := func(err error) {
		if err != nil {
			refused = append(refused, err)
		}
	}
	var err error
	g.Devices, err = e.devices(root, w.Devices)
	keep(err)
	fabric := slices.ContainsFunc(g.Devices, ofFabric)
	if _, said := w.Ulimits["memlock"]; fabric && !said {
		w.Wishes = maps.Clone(w.Wishes)
		if w.Wishes == nil {
			w.Wishes = map[string]string{}
		}
		w.Wishes["memlock"] = "unlimited"
	}
	for _, name := range slices.Sorted(maps.Keys(w.Ulimits)) {
		limit, err := e.ulimit(name, w.Ulimits[name])
		keep(err)
		g.Ulimits = append(g.Ulimits, limit)
	}
	for _, name := range slices.Sorted(maps.Keys(w.Wishes)) {
		limit, remark := e.wish(name, w.Wishes[name])
		if remark != "" {
			g.Remarks = append(g.Remarks, remark)
		}
		g.Ulimits = append(g.Ulimits, limit)
	}
	keep(e.privileged(w.Privileged))
	keep(e.cpuset(w.CPUSet))
	g.Capabilities, err = e.capabilities(w.Capabilities, fabric)
	keep(err)
	g.SecurityOpt, err = securityOpt(root, w.SecurityOpt)
	keep(err)
	return g, all(refused)
}

// all makes one error of several, so that a plan is corrected once.
func all(refused []error) error {
	if len(refused) <= 1 {
		return errors.Join(refused...)
	}
	var texts, hints []string
	for _, err := range refused {
		f := fault.Of(err, fault.Preflight)
		texts, hints = append(texts, f.Text), append(hints, f.Hint)
	}
	return fault.New(fault.Preflight, "not_available", strings.Join(hints, "; "), "%s", strings.Join(texts, "; "))
}

// top is the highest hard limit that a container can have, and whose it is.
func (e Engine) top(name string) (uint64, string) {
	p := e.Process
	switch hard, known := p.Hard[name]; {
	case !known && !p.Raises:
		return Unlimited, "" // not seen: the start tells
	case p.Raises && name == "nofile" && p.Files > 0:
		return p.Files, "fs.nr_open of the kernel"
	case p.Raises:
		return Unlimited, ""
	default:
		return hard, "the hard limit of " + strings.Join(p.Names, " and ") + ", which may not raise it"
	}
}

// ulimit is a limit that the plan asks for: soft and hard, or one for both.
func (e Engine) ulimit(name, text string) (*container.Ulimit, error) {
	soft, hard, err := pair(text)
	if err != nil {
		return nil, fault.New(fault.Plan, "ulimit_invalid", `write unlimited, "1048576" or "1024:1048576"`, "server.ulimits.%s %q is not a limit: %w", name, text, err)
	}
	if top, whose := e.top(name); hard > top {
		return nil, fault.New(fault.Preflight, "ulimit_unavailable", "raise it in the unit of the engine's service (Limit"+strings.ToUpper(name)+"=), or ask for less",
			"server.ulimits.%s asks for %s, but this engine gives at most %s: %s", name, text, word(top), whose)
	}
	return &container.Ulimit{Name: name, Soft: signed(soft), Hard: signed(hard)}, nil
}

// wish is a limit that the preset would like; where the engine has less, all that it has.
func (e Engine) wish(name, text string) (limit *container.Ulimit, remark string) {
	soft, hard, _ := pair(text) // presets are known to be right
	if top, whose := e.top(name); hard > top {
		remark = fmt.Sprintf("the server has the limit %s of %s in place of the %s that its kind is given: %s", name, word(top), word(hard), whose)
		soft, hard = min(soft, top), top
	}
	return &container.Ulimit{Name: name, Soft: signed(soft), Hard: signed(hard)}, remark
}

// pair reads "soft:hard" or one limit for both.
func pair(text string) (soft, hard uint64, err error) {
	a, b, two := strings.Cut(text, ":")
	if soft, err = ParseLimit(a); err != nil || !two {
		return soft, soft, err
	}
	if hard, err = ParseLimit(b); err == nil && soft > hard {
		err = errors.New("the soft limit is above the hard one")
	}
	return soft, hard, err
}

// signed is a limit as engines write it: none is -1.
func signed(n uint64) int64 { return int64(n) }

func word(n uint64) string {
	if n == Unlimited {
		return "unlimited"
	}
	return strconv.FormatUint(n, 10)
}

// privileged: an engine gives it by the name, and can do no more than it may itself.
func (e Engine) privileged(wanted bool) error {
	const hint = "write the capabilities and devices that the server needs into server.capabilities and server.devices"
	switch {
	case !wanted:
		return nil
	case e.Mapped != "":
		return fault.New(fault.Preflight, "privileged_unavailable", hint, "server.privileged is asked for, but root in a container of this engine is not root of the machine (%s)", e.Mapped)
	case len(e.Process.Names) > 0 && e.Process.All != 0 && e.Process.Caps&e.Process.All != e.Process.All:
		return fault.New(fault.Preflight, "privileged_unavailable", hint, "server.privileged is asked for, but the engine itself (%s) lacks capabilities: %s",
			strings.Join(e.Process.Names, " and "), strings.Join(capabilityNames(e.Process.All&^e.Process.Caps), ", "))
	}
	return nil
}

func (e Engine) cpuset(wanted bool) error {
	if !wanted || e.CPUSet {
		return nil
	}
	return fault.New(fault.Preflight, "cpuset_unavailable", "turn the cpuset controller on for the engine (cgroup delegation), or leave server.cpus and server.numa out",
		"server.cpus and server.numa cannot be had: the engine cannot keep a container to CPUs (no cpuset controller)")
}

// capabilities are those asked for. Devices of a fabric (RDMA) bring IPC_LOCK, without which their memory cannot be pinned.
func (e Engine) capabilities(wanted []string, fabric bool) ([]string, error) {
	var list []string
	var lacking []string
	for _, name := range wanted {
		name = strings.TrimPrefix(strings.ToUpper(name), "CAP_")
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
		if bit := slices.Index(capabilityList(), name); bit >= 0 && len(e.Process.Names) > 0 && e.Process.Caps>>bit&1 == 0 {
			lacking = append(lacking, name)
		}
	}
	if fabric && !slices.Contains(list, "IPC_LOCK") && !slices.Contains(list, "ALL") {
		list = append(list, "IPC_LOCK")
	}
	if len(lacking) == 0 {
		return list, nil
	}
	return list, fault.New(fault.Preflight, "capability_unavailable", "leave it out, or give it to the engine's service",
		"server.capabilities asks for %s, which the engine itself (%s) lacks", strings.Join(lacking, ", "), strings.Join(e.Process.Names, " and "))
}

// devices are the device files that are meant: a folder means all character devices in it.
func (e Engine) devices(root string, wanted []string) ([]string, error) {
	var list []string
	for _, name := range wanted {
		if e.Remote {
			list = append(list, name) // the engine's machine is not this one
			continue
		}
		found, err := deviceFiles(root, name)
		if err != nil {
			return nil, fault.New(fault.Preflight, "device_missing", "check the driver, or correct server.devices", "server.devices names %s, which cannot be given: %w", name, err)
		}
		list = append(list, found...)
	}
	return list, nil
}

func deviceFiles(root, name string) ([]string, error) {
	info, err := os.Stat(filepath.Join(root, name))
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		if info.Mode()&fs.ModeDevice == 0 {
			return nil, errors.New("it is no device file")
		}
		return []string{name}, nil
	}
	var list []string
	err = filepath.WalkDir(filepath.Join(root, name), func(file string, d fs.DirEntry, err error) error {
		if err == nil && d.Type()&fs.ModeCharDevice != 0 {
			list = append(list, path.Join(name, strings.TrimPrefix(file, filepath.Join(root, name))))
		}
		return err
	})
	if err == nil && len(list) == 0 {
		err = errors.New("there is no character device in it")
	}
	return list, err
}

// ofFabric: InfiniBand and RoCE.
func ofFabric(device string) bool { return strings.HasPrefix(device, "/dev/infiniband/") }

// securityOpt reads the profile that an option names by its file: engines take its text.
func securityOpt(root string, wanted []string) ([]string, error) {
	var list []string
	for _, option := range wanted {
		file, isSeccomp := strings.CutPrefix(option, "seccomp=")
		if isSeccomp && path.IsAbs(file) {
			b, err := os.ReadFile(filepath.Join(root, file))
			if err != nil {
				return nil, fault.New(fault.Preflight, "profile_missing", "correct server.security_opt", "server.security_opt: the profile cannot be read: %w", err)
			}
			option = "seccomp=" + string(b)
		}
		list = append(list, option)
	}
	return list, nil
}

// capabilityList has the kernel's capabilities in the order of their bits.
func capabilityList() []string {
	return []string{
		"CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP", "LINUX_IMMUTABLE", "NET_BIND_SERVICE",
		"NET_BROADCAST", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER", "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT",
		"SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD", "LEASE", "AUDIT_WRITE", "AUDIT_CONTROL",
		"SETFCAP", "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG", "WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF", "CHECKPOINT_RESTORE",
	}
}

func capabilityNames(bits uint64) []string {
	var list []string
	for i, name := range capabilityList() {
		if bits>>i&1 == 1 {
			list = append(list, name)
		}
	}
	return list
}
