package launch

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// unrecorded stands in a result for a value that nobody may read.
const unrecorded = "[not recorded]"

// words of a shell command, a group to a line.
type words [][]string

func (w *words) add(group ...string) { *w = append(*w, group) }

// each adds a flag for each of some values.
func (w *words) each(flag string, values ...string) {
	for _, v := range values {
		w.add(flag, v)
	}
}

// set adds a flag with its value, unless that is empty.
func (w *words) set(flag, value string) {
	if value != "" {
		w.add(flag, value)
	}
}

// String quotes each word for a shell. A line goes on at the next when it ends in a backslash.
func (w words) String() string {
	var lines []string
	for _, group := range w {
		quoted := make([]string, len(group))
		for i, word := range group {
			quoted[i] = Quote(word)
		}
		lines = append(lines, strings.Join(quoted, " "))
	}
	return strings.Join(lines, " \\\n  ")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// Quote writes a word so that a POSIX shell reads it as it is.
func Quote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// command starts the same again from a shell, in the background where other commands follow; "" for what the run did not start. A secret variable
// is taken from the shell's own.
func (i instance) command(background bool) string {
	if i.Launch != nil && i.Runtime == "docker" {
		return i.container(background).String()
	}
	var w words
	switch {
	case i.Launch != nil:
		w = i.process()
	case len(i.Argv) == 0:
		return ""
	default:
		w = words{i.Argv}
	}
	if background {
		return w.String() + " &"
	}
	return w.String()
}

// container is the command line of docker.
func (i instance) container(background bool) words {
	a := i.Launch.Asked
	w := words{{"docker", "run", "--rm", "--init"}}
	if background {
		w.add("-d")
	}
	w.set("--network", a.Network)
	for _, p := range a.PortBindings {
		w.add("-p", p.flag())
	}
	w.set("--user", a.User)
	w.set("--ipc", a.IPC)
	if a.ShmBytes > 0 && a.IPC != "host" {
		w.add("--shm-size", fmt.Sprint(a.ShmBytes))
	}
	w.set("--cpuset-cpus", a.CPUs)
	w.set("--cpuset-mems", a.MemoryNodes)
	for _, name := range slices.Sorted(maps.Keys(a.Ulimits)) {
		w.add("--ulimit", name+"="+a.Ulimits[name])
	}
	w.rights(a)
	for _, m := range a.BindMounts {
		w.add("--mount", m.flag())
	}
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		w.add("-e", pair(name, a.Env[name]))
	}
	image := i.runnable()
	if argv := i.Launch.Made.Argv; len(argv) > 0 {
		w.add("--entrypoint", argv[0])
		w.add(append([]string{image}, argv[1:]...)...)
		return w
	}
	w.add(append([]string{image}, i.Argv...)...)
	return w
}

// runnable is the image as an engine finds it. One that is pinned by its configuration, or was loaded from a file, has no digest of a registry: it
// is found by its id alone.
func (i instance) runnable() string {
	_, digest, _ := strings.Cut(i.Image, "@")
	f := i.Facts
	byID := i.Image == "" || f != nil && digest != "" && (f.File != "" || digest == f.ConfigDigest && digest != f.ManifestDigest && digest != f.IndexDigest)
	if !byID {
		return i.Image
	}
	return cmp.Or(i.ImageID, i.Launch.Asked.Image, i.Image)
}

// secrets are the variables whose values were not recorded: the shell must have them.
func (i instance) secrets() []string {
	if i.Launch == nil {
		return nil
	}
	names := slices.Sorted(maps.Keys(i.Launch.Asked.Env))
	return slices.DeleteFunc(names, func(name string) bool { return i.Launch.Asked.Env[name] != unrecorded })
}

// rights are the flags for devices and what a container may do.
func (w *words) rights(a settings) {
	if a.Privileged {
		w.add("--privileged")
	}
	w.each("--device", a.Devices...)
	var listed []string
	for _, gpu := range a.GPUs {
		switch {
		case gpu == "all":
			w.add("--gpus", "all")
		case strings.Contains(gpu, "="): // a name of CDI
			w.add("--device", gpu)
		default:
			listed = append(listed, gpu)
		}
	}
	if len(listed) > 0 {
		w.add("--gpus", `"device=`+strings.Join(listed, ",")+`"`)
	}
	w.each("--group-add", a.Groups...)
	w.each("--cap-add", a.Capabilities...)
	for _, o := range a.SecurityOpt {
		if !strings.Contains(o, "=(a profile of ") {
			w.add("--security-opt", o)
		}
	}
}

// flag is a port as docker takes it: "127.0.0.1:30000:8000", and what is none of TCP "…:8000/udp".
func (p portBinding) flag() string {
	text := fmt.Sprintf("%s:%d:%d", p.HostIP, p.HostPort, p.ContainerPort)
	if p.Protocol != "tcp" {
		text += "/" + p.Protocol
	}
	return text
}

// flag is a mount as docker takes it.
func (m bindMount) flag() string {
	text := "type=bind,source=" + m.Source + ",target=" + m.Target
	if m.ReadOnly {
		text += ",readonly"
	}
	return text
}

// pair sets a variable; a secret one is taken over from the shell.
func pair(name, value string) string {
	if value == unrecorded {
		return name
	}
	return name + "=" + value
}

// process is the command line of a program.
func (i instance) process() words {
	a := i.Launch.Asked
	var w words
	if a.Dir != "" {
		w.add("env", "-C", a.Dir)
	} else if len(a.Env) > len(i.secrets()) {
		w.add("env")
	}
	for _, name := range slices.Sorted(maps.Keys(a.Env)) {
		if a.Env[name] != unrecorded { // the shell's own goes on
			w.add(name + "=" + a.Env[name])
		}
	}
	if place := placed(a); place != nil {
		w.add(place...)
	}
	argv := a.Argv
	if len(argv) == 0 {
		argv = i.Argv
	}
	w.add(argv...)
	return w
}

// placed is the program that keeps another to CPUs and memory nodes; nil where nothing was asked.
func placed(a settings) []string {
	switch {
	case a.MemoryNodes != "" && a.CPUs != "":
		return []string{"numactl", "--physcpubind=" + a.CPUs, "--membind=" + a.MemoryNodes}
	case a.MemoryNodes != "":
		return []string{"numactl", "--membind=" + a.MemoryNodes}
	case a.CPUs != "":
		return []string{"taskset", "-c", a.CPUs}
	}
	return nil
}
