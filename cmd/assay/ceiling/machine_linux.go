package ceiling

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// kernel names the system.
func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "Linux"
	}
	return "Linux " + unix.ByteSliceToString(u.Release[:])
}

// processor is the CPU's model as the kernel names it; "" where it does not.
func processor() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
