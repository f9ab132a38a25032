package kernel

import (
	"context"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// Probe reads the operating system and the kernel's state.
func Probe(_ context.Context, h host.Host, s *sut.SUT) error {
	s.OS = sut.OS{
		Distro:       sut.First(distro(h, "/etc/os-release"), distro(h, "/usr/lib/os-release")),
		Kernel:       host.KernelRelease(h),
		Architecture: architecture(h),
		Cmdline:      sut.Convert(host.TextFact(h, "/proc/cmdline"), func(t string) (string, error) { return h.WithoutNode(host.SafeCmdline(t)), nil }),
		SecureBoot:   readSecureBoot(h),
		Lockdown:     sut.Convert(host.TextFact(h, "/sys/kernel/security/lockdown"), host.Bracketed),
		Taint:        sut.Convert(host.TextFact(h, "/proc/sys/kernel/tainted"), parseTaint),
		BootHash:     bootHash(h),
		UptimeS:      sut.Convert(host.TextFact(h, "/proc/uptime"), firstNumber),
		Tuning:       readTuning(h),
	}
	s.OS.Load1, s.OS.Load5, s.OS.Load15 = loadOver(h, 0), loadOver(h, 1), loadOver(h, 2)
	return nil
}

func distro(h host.Host, name string) sut.Fact[string] {
	return sut.Convert(host.TextFact(h, name), parseOSRelease)
}

// parseOSRelease gives the name of a system, whose values may stand in quotes.
func parseOSRelease(text string) (string, error) {
	values := host.KeyValues(text, "=")
	for _, key := range []string{"PRETTY_NAME", "NAME"} {
		if v := strings.Trim(values[key], `"' `); v != "" {
			return v, nil
		}
	}
	return "", sut.ErrNoValue
}

func architecture(h host.Host) sut.Fact[string] {
	u, err := h.Kernel()
	switch {
	case err != nil:
		return sut.Unknown[string]("%s", err)
	case u.Machine == "":
		return sut.Unknown[string]("uname does not give it")
	}
	return sut.Known(u.Machine, "uname")
}

// readSecureBoot reads the firmware's variable: 4 bytes of attributes, then its value.
func readSecureBoot(h host.Host) sut.Fact[bool] {
	const efi = "/sys/firmware/efi"
	if h.Absent(efi) {
		return sut.NA[bool]("not booted by UEFI firmware (" + efi + " does not exist)")
	}
	files := h.Match(efi+"/efivars", "SecureBoot-*")
	if len(files) == 0 {
		return sut.Unknown[bool]("%s/efivars has no SecureBoot", efi)
	}
	b, err := h.Read(files[0])
	switch {
	case err != nil:
		return sut.Unknown[bool]("%s", err)
	case len(b) != 5 || b[4] > 1:
		return sut.Unknown[bool]("%s/efivars/SecureBoot has %d bytes that are no switch", efi, len(b))
	}
	return sut.Known(b[4] == 1, efi+"/efivars/SecureBoot")
}

// taints names the bits of the kernel's taint, from the lowest.
func taints() []string {
	return []string{
		"proprietary_module", "forced_module", "cpu_out_of_specification", "forced_unload", "machine_check", "bad_page", "user_request", "oops", "acpi_table_overridden",
		"warning", "staging_driver", "firmware_workaround", "out_of_tree_module", "unsigned_module", "soft_lockup", "live_patch", "auxiliary", "randomised_structures", "test",
	}
}

func parseTaint(s string) ([]string, error) {
	bits, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return nil, err
	}
	list, names := []string{}, taints()
	for bit := range 64 {
		switch {
		case bits>>bit&1 == 0:
		case bit < len(names):
			list = append(list, names[bit])
		default:
			list = append(list, "bit_"+strconv.Itoa(bit))
		}
	}
	return list, nil
}

// bootHash names a boot; the number itself would name the machine for its time.
func bootHash(h host.Host) sut.Fact[string] {
	return sut.Convert(host.TextFact(h, "/proc/sys/kernel/random/boot_id"), func(id string) (string, error) { return host.SerialHash(id), nil })
}

func firstNumber(s string) (float64, error) { return fieldNumber(s, 0) }

// loadOver reads one of the three means of /proc/loadavg.
func loadOver(h host.Host, field int) sut.Fact[float64] {
	return sut.Convert(host.TextFact(h, "/proc/loadavg"), func(s string) (float64, error) { return fieldNumber(s, field) })
}

// fieldNumber reads one of the numbers of a line.
func fieldNumber(line string, field int) (float64, error) {
	fields := strings.Fields(line)
	if field >= len(fields) {
		return 0, sut.ErrNoValue
	}
	v, err := strconv.ParseFloat(fields[field], 64)
	if err != nil || !(v >= 0 && v < 1e12) {
		return 0, sut.ErrNoValue
	}
	return v, nil
}
