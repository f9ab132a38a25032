package containers

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"assay/containers/docker"
	"assay/containers/engine"
	"assay/containers/instance"
	"assay/fault"
)

// StopLimit is how long a Stop may take: the grace, and then the removal and its second try.
func StopLimit(grace time.Duration) time.Duration {
	return cmp.Or(grace, defaultGrace) + 2*docker.RemoveTimeout + 10*time.Second
}

// ExitFault says why an instance ended though nobody asked it to, as far as its log tells. Its code is that of the signature that was found
// in the log (server.gpu_oom, server.bad_argument, …), host_oom when the machine had no memory left, else exited.
func ExitFault(inst Instance, e Exit) *fault.Fault {
	if f, several := inst.(*fleet); several && f.ended != nil {
		inst = f.ended
	}
	layer := instance.Layer(inst.Identity().Role)
	who := cmp.Or(inst.Identity().Role, string(layer))
	if e.Reason == "" { // somebody else took the value of Exited
		e.Reason = "has ended"
	}
	if e.Away != nil {
		return fault.New(layer, "docker_unreachable", "start the engine again (systemctl start docker; its log says why it ended), then go on with `assay run --resume last`; what it still holds of this run is removed first",
			"the container engine went away while the %s ran, and does not answer: %w", who, e.Away)
	}
	if e.Restarted {
		return fault.New(layer, "engine_restarted", "go on with `assay run --resume last`; with live-restore in its configuration the engine leaves containers running",
			"the container engine was restarted, and the %s %s (exit code %d)", who, e.Reason, e.Code)
	}
	if e.OOM {
		return fault.New(layer, "host_oom", "it needs more memory than the machine or its limit gives", "the %s was killed for want of memory (%s)", who, e.Reason)
	}
	if e.Outside {
		return fault.New(layer, "exited", "a person or a clean-up job ended or removed it (docker stop, kill or rm): keep them from containers named assay-…, and run the plan again; its log: "+inst.LogPath(),
			"the %s %s", who, e.Reason)
	}
	f, err := os.Open(inst.LogPath())
	if err != nil {
		return fault.New(layer, "exited", "its log is lost", "the %s %s", who, e.Reason)
	}
	defer f.Close()
	if s, line, ok := engine.Classify(f); ok {
		return fault.New(layer, s.Code, s.Hint+"; its log: "+inst.LogPath(), "the %s %s: %s", who, e.Reason, line)
	}
	hint := "look at its log: " + inst.LogPath()
	if e.Code == instance.KilledCode {
		hint = "nobody here killed it: somebody else did, or the kernel, when memory is short: look at dmesg for oom-kill; then at its log: " + inst.LogPath()
	}
	return fault.New(layer, "exited", hint, "the %s %s: %s", who, e.Reason, lastWords(f))
}

// exception is the line of a Python program's traceback that says what went wrong. Warnings of the interpreter may come after it.
var exception = regexp.MustCompile(`(?m)^(?:\w+\.)*\w*(?:Error|Exception): .+$`)

// lastWords are those of a log that no signature knows: its last exception, else its last line.
func lastWords(f *os.File) string {
	tail := make([]byte, 4096)
	st, err := f.Stat()
	if err != nil {
		return "its log cannot be read"
	}
	n, _ := f.ReadAt(tail, max(0, st.Size()-int64(len(tail))))
	if all := exception.FindAll(tail[:n], -1); len(all) > 0 {
		return fmt.Sprintf("it said %q", engine.FirstLine(string(all[len(all)-1])))
	}
	lines := strings.Split(strings.TrimSpace(string(tail[:n])), "\n")
	if last := engine.FirstLine(lines[len(lines)-1]); last != "" {
		return fmt.Sprintf("its last line was %q", last)
	}
	return "it wrote nothing"
}
