package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"assay/containers/gpu"
	"assay/fault"
)

// Runner runs a program inside a container and gives what it prints.
type Runner func(ctx context.Context, argv ...string) (out, complaint []byte, err error)

// Count holds the GPUs that a container's first process sees against those that were chosen: fewer end the launch. others tells of more, which a
// privileged container has, or one of an engine that gives all to every container, or why they could not be counted.
func (t Terms) Count(ctx context.Context, proc string, pid int, run Runner) (others string, err error) {
	none := len(t.Choice.Devices) == 0
	if none && (t.GPUs.By != "" || t.Engine.Remote) { // which it gets is not known here
		return "", nil
	}
	seen, err := filesInside(ctx, proc, pid, run)
	if err != nil && none && !t.Engine.NVIDIA { // nothing could give it any
		return "", nil
	}
	if err != nil {
		return "GPUs inside: they could not be counted: " + err.Error(), nil
	}
	var told []string
	for _, vendor := range []string{gpu.AMD, gpu.NVIDIA} {
		more, err := t.count(vendor, seen)
		if err != nil {
			return "", err
		}
		if more != "" {
			told = append(told, more)
		}
	}
	return strings.Join(told, "; "), nil
}

// count compares the files of one vendor's devices, by name where the driver tells which file is whose. Parts of NVIDIA's devices have the file of
// their whole.
func (t Terms) count(vendor string, seen []string) (more string, err error) {
	var wanted []string
	devices := 0
	for _, d := range t.Choice.Devices {
		if d.Vendor == vendor {
			devices, wanted = devices+1, append(wanted, d.Files...)
		}
	}
	none := len(t.Choice.Devices) == 0
	if devices == 0 && !none { // render nodes come with NVIDIA's devices
		return "", nil
	}
	seen = slices.DeleteFunc(slices.Clone(seen), func(file string) bool { return !gpu.TellsDevices(vendor, file) })
	lacking := without(wanted, seen)
	if len(lacking) > 0 || len(seen) < devices {
		return "", fault.New(fault.Server, "gpu_count", "see who else was given them, and whether the engine's GPU support is whole: restart the engine, or take server.gpu_access: cdi",
			"the container sees %d of the GPU device files %s that it was to be given: %s", len(wanted)-len(lacking), strings.Join(wanted, ", "), orNone(seen))
	}
	others := without(without(seen, wanted), t.Given.Devices)
	switch {
	case len(others) == 0 || len(t.Choice.Parts) > 0:
	case none:
		more = "GPUs inside: " + strings.Join(others, ", ") + " can be seen, and none was asked for"
	case len(wanted) > 0:
		more = "GPUs inside: " + strings.Join(others, ", ") + " can be seen beside those that were asked for"
	}
	return more, nil
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// filesInside lists the GPU device files of a container as its first process sees them, where this program may look; else a program of the image does.
func filesInside(ctx context.Context, proc string, pid int, run Runner) ([]string, error) {
	root := filepath.Join(proc, strconv.Itoa(pid), "root")
	if entries, err := os.ReadDir(filepath.Join(root, "dev")); err == nil && pid > 0 {
		files := namesOf("/dev/", entries)
		entries, err = os.ReadDir(filepath.Join(root, "dev/dri"))
		if err == nil || errors.Is(err, os.ErrNotExist) {
			return append(files, namesOf("/dev/dri/", entries)...), nil
		}
	}
	out, _, err := run(ctx, "find", "/dev", "-maxdepth", "2")
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(out)), nil
}

func namesOf(dir string, entries []os.DirEntry) (files []string) {
	for _, e := range entries {
		files = append(files, dir+e.Name())
	}
	return files
}
