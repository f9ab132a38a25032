package mark

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Session is the session of a program that was started as its leader. A worker that wiped its environment and writes elsewhere is still in it.
type Session struct {
	Leader int    `json:"leader"` // process id
	Ticks  uint64 `json:"ticks"`  // when the leader was started, in clock ticks since boot: its id alone may be somebody else's by now
	Boot   string `json:"boot"`   // id of the boot
}

// SessionOf describes the session that a living process leads.
func SessionOf(pid int) (Session, error) {
	s, err := readStat(pid)
	if err != nil {
		return Session{}, err
	}
	boot, err := bootID()
	if err != nil {
		return Session{}, err
	}
	return Session{Leader: pid, Ticks: s.ticks, Boot: boot}, nil
}

// Members lists the living processes of a session. There are none after a boot, or when the leader's id went to another process. Only this
// user's processes count.
func (s Session) Members() ([]int, error) {
	boot, err := bootID()
	if err != nil || s.Leader <= 1 || boot != s.Boot {
		return nil, err
	}
	if leader, err := readStat(s.Leader); err == nil && leader.ticks != s.Ticks {
		return nil, nil
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() || !mine(pid) {
			continue
		}
		if p, err := readStat(pid); err == nil && p.session == s.Leader && p.ticks >= s.Ticks && p.state != 'Z' {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// mine tells whether a process runs as this user.
func mine(pid int) bool {
	info, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid)))
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// stat is what is read of /proc/PID/stat.
type stat struct {
	state   byte
	session int
	ticks   uint64
}

func readStat(pid int) (stat, error) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return stat{}, err
	}
	return parseStat(b)
}

// parseStat reads the fields behind the program's name, which may hold blanks and brackets (proc_pid_stat(5)): 3 state, 6 session, 22 start time.
func parseStat(b []byte) (stat, error) {
	end := bytes.LastIndexByte(b, ')')
	fields := strings.Fields(string(b[end+1:]))
	if end < 0 || len(fields) < 20 {
		return stat{}, errors.New("a process's stat has too few fields")
	}
	session, err := strconv.Atoi(fields[3])
	if err != nil {
		return stat{}, err
	}
	ticks, err := strconv.ParseUint(fields[19], 10, 64)
	return stat{state: fields[0][0], session: session, ticks: ticks}, err
}

func bootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b)), err
}
