package limits

import (
	"math"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Unlimited is a limit that is none.
const Unlimited = math.MaxUint64

// The capabilities that matter here, by their number in the kernel.
const capSysResource = 24

// Process is what the processes that start containers may do. The zero value is of an engine whose processes are not seen.
type Process struct {
	Names  []string          // such as "dockerd (pid 812)"
	Hard   map[string]uint64 // hard limits by ulimit name; nil: not known
	Raises bool              // they may raise limits beyond their own
	Caps   uint64            // bits of the capabilities that they can pass on
	All    uint64            // bits of those that the kernel has; 0: not known
	Files  uint64            // most open files that the kernel lets a process have
}

// findProcess finds the engine behind a socket and what starts containers for it: containerd, the engine's child or the system's own.
func findProcess(root, socket string) Process {
	proc := filepath.Join(root, "proc")
	engine := listener(socket)
	if name := comm(proc, engine); engine == 0 || name != "dockerd" && name != "podman" {
		engine = only(proc, func(pid int) bool { return comm(proc, pid) == "dockerd" }) // its socket was made by the system's manager
	}
	if engine == 0 {
		return Process{}
	}
	p := Process{Raises: true, Caps: math.MaxUint64, Hard: map[string]uint64{}}
	p.add(proc, engine)
	if child := only(proc, func(pid int) bool { return comm(proc, pid) == "containerd" && parent(proc, pid) == engine }); child != 0 {
		p.add(proc, child)
	} else if system := only(proc, func(pid int) bool { return comm(proc, pid) == "containerd" && parent(proc, pid) == 1 }); system != 0 {
		p.add(proc, system)
	}
	p.Files, _ = strconv.ParseUint(strings.TrimSpace(read(proc, "sys/fs/nr_open")), 10, 64)
	if last, err := strconv.Atoi(strings.TrimSpace(read(proc, "sys/kernel/cap_last_cap"))); err == nil && last < 64 {
		p.All = math.MaxUint64 >> (63 - last)
	}
	return p
}

// add narrows what the processes can do to what one more of them can.
func (p *Process) add(proc string, pid int) {
	dir := strconv.Itoa(pid)
	status, limits := read(proc, dir+"/status"), read(proc, dir+"/limits")
	if status == "" || limits == "" {
		return
	}
	p.Names = append(p.Names, comm(proc, pid)+" (pid "+dir+")")
	caps, err := strconv.ParseUint(field(status, "CapBnd"), 16, 64)
	if err == nil {
		p.Caps &= caps
	}
	whole := strings.Join(strings.Fields(read(proc, dir+"/uid_map")), " ") == "0 0 4294967295" // else its powers end at its own namespace
	p.Raises = p.Raises && err == nil && caps>>capSysResource&1 == 1 && whole
	for _, r := range rows(limits) {
		if old, known := p.Hard[r.name]; !known || r.hard < old {
			p.Hard[r.name] = r.hard
		}
	}
}

// limitNames are the names of ulimits as the kernel writes them in /proc/<pid>/limits.
func limitNames() map[string]string {
	return map[string]string{
		"Max cpu time": "cpu", "Max file size": "fsize", "Max data size": "data", "Max stack size": "stack", "Max core file size": "core",
		"Max resident set": "rss", "Max processes": "nproc", "Max open files": "nofile", "Max locked memory": "memlock", "Max address space": "as",
		"Max file locks": "locks", "Max pending signals": "sigpending", "Max msgqueue size": "msgqueue", "Max nice priority": "nice",
		"Max realtime priority": "rtprio", "Max realtime timeout": "rttime",
	}
}

// row is a line of /proc/<pid>/limits.
type row struct {
	name       string
	soft, hard uint64
}

// rows reads /proc/<pid>/limits: a title, then the soft and the hard limit.
func rows(text string) (list []row) {
	for line := range strings.Lines(text) {
		for title, name := range limitNames() {
			rest, ok := strings.CutPrefix(line, title+" ")
			words := strings.Fields(rest)
			if !ok || len(words) < 2 {
				continue
			}
			soft, err := ParseLimit(words[0])
			hard, err2 := ParseLimit(words[1])
			if err == nil && err2 == nil {
				list = append(list, row{name, soft, hard})
			}
		}
	}
	return list
}

// Pairs reads /proc/<pid>/limits as "soft:hard" by ulimit name, where none is -1.
func Pairs(text string) map[string]string {
	list := map[string]string{}
	for _, r := range rows(text) {
		list[r.name] = strconv.FormatInt(signed(r.soft), 10) + ":" + strconv.FormatInt(signed(r.hard), 10)
	}
	return list
}

// ParseLimit reads a number, or one of the words for no limit.
func ParseLimit(word string) (uint64, error) {
	if word == "unlimited" || word == "-1" {
		return Unlimited, nil
	}
	return strconv.ParseUint(word, 10, 64)
}

// listener is the process that listens at a socket, 0 when that is not told.
func listener(socket string) int {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return 0
	}
	defer c.Close()
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0
	}
	pid := 0
	_ = raw.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(peer.Pid)
		}
	})
	return pid
}

// only is the one process that fits, 0 when there are none or several.
func only(proc string, fits func(pid int) bool) int {
	entries, err := os.ReadDir(proc)
	if err != nil {
		return 0
	}
	found := 0
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || !fits(pid) {
			continue
		}
		if found != 0 {
			return 0
		}
		found = pid
	}
	return found
}

func comm(proc string, pid int) string {
	return strings.TrimSpace(read(proc, strconv.Itoa(pid)+"/comm"))
}

func parent(proc string, pid int) int {
	n, _ := strconv.Atoi(field(read(proc, strconv.Itoa(pid)+"/status"), "PPid")) // 0 is no process
	return n
}

// field is the value of "Key:\tvalue" in /proc/<pid>/status.
func field(status, key string) string {
	for line := range strings.Lines(status) {
		if value, ok := strings.CutPrefix(line, key+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func read(dir, name string) string {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return string(b)
}
