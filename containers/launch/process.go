package launch

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"assay/containers/affinity"
	"assay/containers/limits"
)

// OfProcess records what the kernel says of a program that has just started. Its limits are those of this program, since none are asked for.
func (t Terms) OfProcess(proc string, pid int, asked Settings, secrets []string) Record {
	asked.Env = Redact(asked.Env, secrets)
	asked.CPUs, asked.MemoryNodes = affinity.Format(t.Place.CPUs), affinity.Format(t.Place.Nodes)
	r := t.record(asked)
	made, err := readProcess(filepath.Join(proc, strconv.Itoa(pid)))
	if err != nil {
		r.Differs = []string{"what was made of it cannot be read: " + err.Error()}
		return r
	}
	all := Redact(made.Env, secrets)
	made.Env = nil
	if made.MemoryNodes == "" { // not every kernel shows it
		asked.MemoryNodes = ""
	}
	for name, value := range all {
		if _, isAsked := asked.Env[name]; !isAsked {
			made.Inherited = append(made.Inherited, name)
			continue
		}
		if made.Env == nil {
			made.Env = map[string]string{}
		}
		made.Env[name] = value
	}
	slices.Sort(made.Inherited)
	if r.Made = made; interpreted(asked.Argv, made.Argv) {
		made.Argv = asked.Argv
	}
	r.Differs = differences(asked, made)
	return r
}

// interpreted: the program is a script, before which the kernel puts its interpreter, and whose name it writes in full.
func interpreted(asked, made []string) bool {
	rest := len(made) - len(asked)
	return len(asked) > 0 && rest > 0 && slices.Equal(asked[1:], made[rest+1:]) && filepath.Base(asked[0]) == filepath.Base(made[rest])
}

// readProcess reads what /proc tells of a program.
func readProcess(dir string) (s Settings, err error) {
	command, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil {
		return s, err
	}
	if len(command) == 0 {
		return s, errors.New("it had ended by then")
	}
	s.Argv = strings.Split(strings.TrimSuffix(string(command), "\x00"), "\x00")
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return s, err
	}
	for line := range strings.Lines(string(status)) {
		switch key, value, _ := strings.Cut(line, ":"); key {
		case "Cpus_allowed_list":
			s.CPUs = strings.TrimSpace(value)
		case "Uid":
			if ids := strings.Fields(value); len(ids) > 1 {
				s.User = ids[1]
			}
		}
	}
	hard, err := os.ReadFile(filepath.Join(dir, "limits"))
	if err != nil {
		return s, err
	}
	s.Ulimits = limits.Pairs(string(hard))
	environ, err := os.ReadFile(filepath.Join(dir, "environ"))
	if err != nil {
		return s, err
	}
	s.Env = pairs(strings.Split(string(environ), "\x00"))
	s.MemoryNodes = boundNodes(dir)
	s.Dir, err = os.Readlink(filepath.Join(dir, "cwd"))
	return s, err
}

// boundNodes are the memory nodes that a program is kept to, as its map of memory tells; "" where it is kept to none or the kernel has no such map.
func boundNodes(dir string) string {
	f, err := os.Open(filepath.Join(dir, "numa_maps"))
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _, err := bufio.NewReader(f).ReadLine()
	if words := strings.Fields(string(line)); err == nil && len(words) > 1 {
		nodes, _ := strings.CutPrefix(words[1], "bind:")
		if nodes != words[1] {
			return strings.TrimPrefix(nodes, "static:")
		}
	}
	return ""
}

// pairs reads NAME=value; the last of a name counts.
func pairs(list []string) map[string]string {
	env := map[string]string{}
	for _, pair := range list {
		if name, value, ok := strings.Cut(pair, "="); ok && name != "" {
			env[name] = value
		}
	}
	return env
}
