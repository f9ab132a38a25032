package launch

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/report/figure"
	"assay/report/machine"
)

// Started is a server, router or client of the run.
type Started struct {
	Name    string
	Lines   []machine.Line
	Differs []string // what the runtime made other than it was asked
	Command string   // starts the same again from a shell; "" for what was there before
	Beside  string   // the same in the background
	Secrets []string // variables that the shell must have for it
	Inside  string   // image in which the command is run, where nothing tells how its container was started
}

// Label says what the command starts.
func (s Started) Label() string {
	label := s.Name
	if s.Inside != "" {
		label += ", inside " + s.Inside
	}
	if len(s.Secrets) > 0 {
		label += "; export " + strings.Join(s.Secrets, ", ") + " first"
	}
	return label
}

// chapter tells what is known of an instance, and leaves out the rest.
func (i instance) chapter(name string) Started {
	s := Started{Name: name, Command: i.command(false), Beside: i.command(true), Secrets: i.secrets()}
	if i.Launch == nil && i.Runtime == "docker" {
		s.Inside = i.Image
	}
	lines := []machine.Line{
		machine.Stated("Image", i.Image, "plan and container engine", ""),
		machine.Stated("Image verified", i.verified(), "engine and registry", ""),
		machine.Stated("Built from", i.Facts.builtFrom(), "layers", ""),
		machine.Stated("Image id", i.ImageID, "container engine", ""),
		machine.Stated("Digests", i.Facts.digests(), "registry and engine", ""),
		machine.Stated("Platform", i.Facts.platform(), "image", ""),
		machine.Stated("Program", i.program(), "", ""),
		machine.Stated("Version", i.version(), "what it says of itself", ""),
		machine.Stated("Name", i.Name, "runtime", ""),
	}
	if i.Launch != nil {
		lines = append(lines, i.Launch.lines()...)
		s.Differs = i.Launch.Differs
	}
	for _, f := range i.Files {
		lines = append(lines, machine.Stated("Configuration", f.Path+", SHA-256 "+f.SHA256, "the run's folder", ""))
	}
	lines = append(lines, machine.Stated("Ready", i.Start.text(), "each stage after the one before", ""))
	s.Lines = slices.DeleteFunc(lines, func(l machine.Line) bool { return l.Value == "" })
	return s
}

// version is the one it told, or why there is none.
func (i instance) version() string {
	if i.Version == "" && i.VersionUnknown != "" {
		return "not known: " + i.VersionUnknown
	}
	return i.Version
}

// program is what pins a program that ran without an image.
func (i instance) program() string {
	if i.Image != "" || i.BinarySHA256 == "" || len(i.Argv) == 0 {
		return ""
	}
	return i.Argv[0] + ", SHA-256 " + i.BinarySHA256
}

// verified says what pins the image that ran.
func (i instance) verified() string {
	f := i.Facts
	switch {
	case f == nil:
		return ""
	case f.Unpinned:
		return "not pinned: the plan has a tag, which may mean another image another time"
	case f.Unknown != "":
		return "digests of the registry are not known: " + f.Unknown
	case f.File != "":
		return "loaded from " + f.File + ", and its digests are those of the plan"
	case f.ManifestDigest != "" || f.IndexDigest != "":
		return "the engine ran the image of this digest"
	}
	return ""
}

// builtFrom says whether the image is proved to be built from its base.
func (f *imageFacts) builtFrom() string {
	if f == nil || f.Base == nil {
		return ""
	}
	b := f.Base
	switch {
	case b.Proved:
		return fmt.Sprintf("%s: all %s of it lie under the %d of this image (told by the %s)", b.Image, figure.Plural(len(b.Layers), "layer"), len(f.Layers), cmp.Or(b.ToldBy, "engine"))
	case b.Unproved != "":
		return "not proved to be " + b.Image + ": " + b.Unproved
	}
	return fmt.Sprintf("not %s: only %d of its %d layers are the same", b.Image, b.Shared, len(b.Layers))
}

func (f *imageFacts) digests() string {
	if f == nil {
		return ""
	}
	return joined(", ", named("index", f.IndexDigest), named("manifest", f.ManifestDigest), named("configuration", f.ConfigDigest))
}

func (f *imageFacts) platform() string {
	if f == nil || f.Architecture == "" {
		return ""
	}
	text := joined("/", f.OS, f.Architecture, f.Variant)
	if n := len(f.Layers); n > 0 {
		text += ", " + figure.Plural(n, "layer")
	}
	if f.SizeBytes > 0 {
		text += ", " + figure.Size(f.SizeBytes)
	}
	if day, _, _ := strings.Cut(f.Created, "T"); day != "" {
		text += ", built " + day
	}
	return text
}

// lines are the place and the rights that something was started with.
func (r *record) lines() []machine.Line {
	m, asked := r.Made, r.Asked
	line := func(label, value string) machine.Line {
		return machine.Stated(label, value, "asked of the runtime, and read from it after the start", "")
	}
	made := "as asked for, by the runtime's own word"
	if len(r.Differs) > 0 {
		made = "not all as asked for"
	}
	return []machine.Line{
		line("GPUs", r.gpus()),
		line("CPUs", cmp.Or(m.CPUs, asked.CPUs)),
		line("Memory nodes", cmp.Or(m.MemoryNodes, asked.MemoryNodes)),
		line("Network", joined(", ", cmp.Or(m.Network, asked.Network), strings.Join(m.Ports, ", "))),
		line("Mounts", strings.Join(m.Mounts, "; ")),
		line("Shared memory", r.shared()),
		line("Limits", limits(asked.Ulimits, m.Ulimits)),
		line("Rights", r.rights()),
		line("User", m.User),
		line("Started", made),
		machine.Stated("The engine's answer", r.File, "the run's folder", ""),
	}
}

// gpus are the devices that were chosen, and how they were handed over.
func (r *record) gpus() string {
	var names []string
	for _, d := range r.GPUs {
		names = append(names, strings.TrimSpace(fmt.Sprintf("%d %s", d.Index, d.PCI)))
	}
	names = append(names, r.GPUParts...)
	if len(names) == 0 {
		return ""
	}
	return joined(", by ", strings.Join(names, ", "), r.GPUAccess)
}

func (r *record) shared() string {
	if r.Made.IPC == "" && r.Made.ShmBytes == 0 {
		return ""
	}
	size := ""
	if r.Made.ShmBytes > 0 && r.Made.IPC != "host" {
		size = figure.Size(r.Made.ShmBytes)
	}
	return joined(", ", named("ipc", r.Made.IPC), size)
}

func (r *record) rights() string {
	m := r.Made
	privileged := ""
	if m.Privileged {
		privileged = "privileged"
	}
	return joined("; ", privileged, named("capabilities", strings.Join(m.Capabilities, ", ")), strings.Join(m.SecurityOpt, ", "),
		named("devices", strings.Join(m.Devices, ", ")), named("groups", strings.Join(m.Groups, ", ")))
}

// limits are those that were asked for and those that servers run into: of a program the kernel tells many more.
func limits(asked, made map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(made)) {
		if _, wanted := asked[name]; wanted || slices.Contains([]string{"memlock", "nofile", "nproc"}, name) {
			out = append(out, name+" "+made[name])
		}
	}
	return strings.Join(out, ", ")
}

// text is how long each stage took: "process 0.4 s, port 21.5 s".
func (s *start) text() string {
	if s == nil {
		return ""
	}
	var out []string
	for _, st := range s.Stages {
		out = append(out, st.Name+" "+figure.Span(int64(st.Seconds*1e6)))
	}
	return strings.Join(out, ", ")
}

// named puts a name before a value that there is.
func named(name, value string) string {
	if value == "" {
		return ""
	}
	return name + " " + value
}

// joined leaves out what is empty.
func joined(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), separator)
}
