package launch

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/containers/gpu"
	"assay/fault"
	"assay/plan"
)

// Settings are what something is started with. Values of secret variables are replaced.
type Settings struct {
	Image        string            `json:"image,omitempty"` // docker: its id
	Argv         []string          `json:"argv,omitempty"`
	Env          map[string]string `json:"env,omitempty"`
	Inherited    []string          `json:"inherited,omitempty"` // process: names of further variables
	Dir          string            `json:"dir,omitempty"`       // process: the folder that it runs in
	User         string            `json:"user,omitempty"`
	Network      string            `json:"network,omitempty"`
	Ports        []string          `json:"ports,omitempty"` // in words: "127.0.0.1:30000 to 8000"
	PortBindings []PortBinding     `json:"port_bindings,omitempty"`
	Mounts       []string          `json:"mounts,omitempty"` // in words: "/mnt/model at /model, read-only"
	BindMounts   []BindMount       `json:"bind_mounts,omitempty"`
	IPC          string            `json:"ipc,omitempty"`
	ShmBytes     int64             `json:"shm_bytes,omitempty"`
	CPUs         string            `json:"cpus,omitempty"`
	MemoryNodes  string            `json:"memory_nodes,omitempty"`
	Ulimits      map[string]string `json:"ulimits,omitempty"` // "soft:hard"
	Devices      []string          `json:"devices,omitempty"` // device files
	GPUs         []string          `json:"gpus,omitempty"`    // by which the engine was asked for GPUs: UUIDs, names of CDI
	Groups       []string          `json:"groups,omitempty"`
	Capabilities []string          `json:"capabilities,omitempty"`
	SecurityOpt  []string          `json:"security_opt,omitempty"`
	Privileged   bool              `json:"privileged,omitempty"`
}

// Record is what was asked for and what was made of it.
type Record struct {
	GPUs      []gpu.Device `json:"gpus,omitempty"`       // that were chosen
	GPUParts  []string     `json:"gpu_parts,omitempty"`  // parts of GPUs that were chosen, by UUID
	GPUAccess string       `json:"gpu_access,omitempty"` // cdi | driver | device files | variables
	Asked     Settings     `json:"asked"`
	Made      Settings     `json:"made"`
	Differs   []string     `json:"differs,omitempty"` // each difference: what was asked and not given, or given and not asked
	File      string       `json:"file,omitempty"`    // of the run's folder, with all that the engine says
}

// secret stands in the place of a value that nobody may read.
const secret = "[not recorded]"

// Redact gives a copy of an environment, or of labels, without the values of secrets: those named, those whose name says so, and passwords in
// addresses.
func Redact(env map[string]string, secrets []string) map[string]string {
	out := maps.Clone(env)
	for name, value := range out {
		out[name] = fault.WithoutUser(value)
		if slices.Contains(secrets, name) || plan.LooksSecret(strings.ReplaceAll(name, ".", "_")) {
			out[name] = secret
		}
	}
	return out
}

// differences holds what was made against what was asked. Of what was left open nothing is wrong; an image brings variables of its own, and an
// engine its usual capabilities.
func differences(asked, made Settings) []string {
	d := differ{}
	d.text("image", asked.Image, made.Image)
	d.list("arguments", asked.Argv, made.Argv, false)
	d.text("folder", asked.Dir, made.Dir)
	d.text("user", asked.User, made.User)
	d.text("network", asked.Network, made.Network)
	d.list("ports", asked.Ports, made.Ports, true)
	d.list("mounts", asked.Mounts, made.Mounts, true)
	d.text("ipc", asked.IPC, made.IPC)
	if asked.ShmBytes != 0 && asked.IPC != "host" {
		d.text("shared memory in bytes", fmt.Sprint(asked.ShmBytes), fmt.Sprint(made.ShmBytes))
	}
	d.text("CPUs", asked.CPUs, made.CPUs)
	d.text("memory nodes", asked.MemoryNodes, made.MemoryNodes)
	d.list("device files", asked.Devices, made.Devices, true)
	d.list("GPUs", asked.GPUs, made.GPUs, true)
	d.missing("groups", asked.Groups, made.Groups)
	d.missing("capabilities", asked.Capabilities, made.Capabilities)
	d.missing("security options", asked.SecurityOpt, made.SecurityOpt)
	d.variables("limit", asked.Ulimits, made.Ulimits)
	d.variables("variable", asked.Env, made.Env)
	if asked.Privileged != made.Privileged {
		d.text("privileged", fmt.Sprint(asked.Privileged), fmt.Sprint(made.Privileged))
	}
	return d.found
}

// differ collects differences.
type differ struct{ found []string }

func (d *differ) add(format string, args ...any) {
	d.found = append(d.found, fmt.Sprintf(format, args...))
}

// text: what was not asked for is left open.
func (d *differ) text(what, asked, made string) {
	if asked != "" && asked != made {
		d.add("%s: %q was asked for, it is %q", what, asked, made)
	}
}

// list: all of the asked and no others; sorted where the order says nothing.
func (d *differ) list(what string, asked, made []string, sorted bool) {
	if sorted {
		d.missing(what, asked, made)
		if more := without(made, asked); len(more) > 0 {
			d.add("%s: %s was not asked for", what, strings.Join(more, ", "))
		}
		return
	}
	if len(asked) > 0 && !slices.Equal(asked, made) {
		d.add("%s: %q was asked for, it is %q", what, asked, made)
	}
}

func (d *differ) missing(what string, asked, made []string) {
	if less := without(asked, made); len(less) > 0 {
		d.add("%s: %s was asked for and is not there", what, strings.Join(less, ", "))
	}
}

func (d *differ) variables(what string, asked, made map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		if got, there := made[name]; !there {
			d.add("%s %s: %q was asked for, it is not set", what, name, asked[name])
		} else if got != asked[name] {
			d.add("%s %s: %q was asked for, it is %q", what, name, asked[name], got)
		}
	}
}

// without is what of a list does not stand in another.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
}

// sorted is a list in order, nil for an empty one.
func sorted(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	return out
}
