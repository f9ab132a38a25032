package host

import (
	"os"
	"strings"
)

const (
	whyAbsent   = "does not exist"
	whyRefused  = "is not readable by this user"
	whyNotEven  = "is not readable, even by root: a container or a locked-down kernel keeps it"
	whyCaptured = "is not in the capture"
)

// refusal words a read that the kernel refused.
func refusal() string {
	if os.Geteuid() == 0 {
		return whyNotEven
	}
	return whyRefused
}

// needed says what a user lacks to read a path, and with which tool the same is to be seen: "needs root (dmidecode)". It is "" where
// more rights would not help.
func needed(path, why string) string {
	if why != whyRefused {
		return ""
	}
	for _, known := range []struct{ prefix, right string }{
		{"/sys/firmware/dmi/", "root (dmidecode)"},
		{"/sys/class/dmi/", "root (dmidecode)"},
		{"/sys/class/powercap/", "root (energy counters of the processors)"},
		{"/sys/devices/virtual/powercap/", "root (energy counters of the processors)"},
		{"/sys/kernel/debug/", "root (debugfs)"},
		{"/sys/firmware/efi/", "root (mokutil)"},
		{"/sys/kernel/security/", "root"},
		{"/sys/bus/pci/", "root (lspci -vvv)"},
		{"/sys/class/kfd/", "root or the group render"},
		{"/dev/kfd", "root or the group render"},
		{"/dev/dri/", "root or the group render"},
		{"/dev/kmsg", "root or the group adm (dmesg)"},
		{"/proc/kmsg", "root or the group adm (dmesg)"},
		{"/var/run/docker.sock", "root or the group docker"},
		{"/run/docker.sock", "root or the group docker"},
		{"/dev/ipmi", "root (ipmitool)"},
	} {
		if strings.HasPrefix(path, known.prefix) {
			return known.right
		}
	}
	return "root"
}
