package allow

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// opens says what a line of the list would give away beside what the plan wants, "" when that is little: whoever writes it should know.
func opens(key, value string) string {
	switch key {
	case "commands":
		return commandOpens(strings.Fields(value))
	case "mounts", "writable_mounts":
		if within([]string{"/etc", "/root", "/boot", "/dev", "/run", "/var/run", "/var/log", "/var/spool", "/var/lib/systemd"}, value) {
			return "files of the system that may hold passwords and keys"
		}
	case "devices":
		if disk := regexp.MustCompile(`^/dev/(sd|hd|vd|xvd|nvme\d|dm-|md|loop|mmcblk|mapper|disk|block|nbd|zd|ram)`); disk.MatchString(value) {
			return "a whole disk"
		}
	case "capabilities":
		if slices.Contains([]string{"ALL", "SYS_ADMIN", "SYS_MODULE", "SYS_RAWIO", "SYS_PTRACE", "DAC_READ_SEARCH", "DAC_OVERRIDE", "BPF", "MKNOD"}, value) {
			return "a way to this whole machine"
		}
	case "variables":
		return "its value"
	}
	return ""
}

// commandOpens tells commands that start any program they are told to.
func commandOpens(command []string) string {
	const all = "all that the daemon's user may"
	if len(command) == 0 {
		return ""
	}
	name := strings.TrimRight(filepath.Base(command[0]), "0123456789.")
	runs := []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "csh", "tcsh", "fish", "busybox", "env", "sudo", "su", "doas", "xargs", "nice", "nohup", "timeout", "setsid",
		"ssh", "docker", "podman", "nerdctl", "ctr", "chroot", "nsenter", "unshare", "systemd-run", "make", "vi", "vim", "find", "awk", "gdb", "strace"}
	interprets := []string{"python", "pypy", "perl", "ruby", "node", "nodejs", "lua", "php", "deno", "bun", "uv", "uvx"}
	inline := len(command) < 2 || slices.Contains([]string{"-c", "-e", "-", "-E", "-r", "--eval"}, command[1])
	if slices.Contains(runs, name) || slices.Contains(interprets, name) && inline {
		return all
	}
	return ""
}
