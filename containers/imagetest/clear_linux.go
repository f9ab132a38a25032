package imagetest

import (
	"os"
	"strings"
	"syscall"
)

// clearOut removes the folder of an engine that has ended, after what the engine left mounted in it: the name of a network, the storage of layers.
func clearOut(dir string) {
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); len(fields) > 4 && strings.HasPrefix(fields[4], dir+"/") {
			_ = syscall.Unmount(fields[4], syscall.MNT_DETACH)
		}
	}
	os.RemoveAll(dir)
}
