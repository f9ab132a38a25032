package export

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"assay/probes"
	"assay/report/figure"
	"assay/report/machine"
	"assay/report/point"
	"assay/result"
)

// MLPerfSystem writes the part of an MLPerf Endpoints system_desc.json that a machine tells of itself, with the names and types that its
// checker takes. What is not known is left out; where the checker asks for a text, the text says that it is not known and why.
func MLPerfSystem(w io.Writer, s probes.SUT, r result.Result) error {
	system := object{}
	system.add("system_name", systemName(s))
	system.add("system_size", systemSize(s))
	system.add("system_node_ensemble_count", 1)
	system.add("system_node_ensemble_total", 1)
	system.add("node_types", []object{nodeType(s, point.PlanOf(r).Model.Path)})
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(system); err != nil {
		return fmt.Errorf("write system_desc.json: %w", err)
	}
	return nil
}

// systemName is the machine with its accelerators: "Dell PowerEdge XE9680 (8x MI300X)".
func systemName(s probes.SUT) string {
	name := cmp.Or(strings.TrimSpace(s.System.Vendor.Value+" "+s.System.Product.Value), "unknown: "+s.System.Product.Reason())
	if size := systemSize(s); len(s.Accelerators.Items) > 0 {
		name += " (" + size + ")"
	}
	return name
}

// systemSize is the accelerators by name with their number; a required text.
func systemSize(s probes.SUT) string {
	switch {
	case s.Accelerators.Unknown != "":
		return "unknown: " + s.Accelerators.Unknown
	case len(s.Accelerators.Items) == 0:
		return "0 accelerators"
	}
	return strings.ReplaceAll(machine.AcceleratorNames(s), " × ", "x ")
}

// nodeType is the one kind of node that a run has.
func nodeType(s probes.SUT, model string) object {
	o := object{}
	o.add("system_node_ensemble_id", 0)
	o.add("number_of_nodes", 1)
	addKnown(&o, "host_processor_model_name", s.CPU.Model)
	addKnown(&o, "host_processors_per_node", s.CPU.Sockets)
	addKnown(&o, "host_processor_core_count", s.CPU.CoresPerSocket)
	if cores, threads := s.CPU.CoresPerSocket, s.CPU.ThreadsPerCore; cores.IsKnown() && threads.IsKnown() {
		o.add("host_processor_vcpu_count", cores.Value*threads.Value)
	}
	addText(&o, "host_memory_capacity", hostMemory(s.Memory))
	o.add("host_memory_configuration", memoryConfiguration(s.Memory))
	if s.Accelerators.Unknown == "" {
		o.add("accelerator_info", acceleratorInfo(s))
	}
	o.add("host_network_card_count", cards(s.Network))
	addText(&o, "host_networking", s.Network.Summary.Value)
	addText(&o, "host_storage_capacity", storageCapacity(s.Storage, model))
	addText(&o, "host_storage_type", storageType(s.Storage))
	addText(&o, "hw_notes", hardwareNotes(s))
	o.add("driver", driver(s))
	addText(&o, "operating_system", operatingSystem(s.OS))
	o.add("filesystem", filesystem(s.Storage, model))
	addText(&o, "other_software_stack", containerTools(s.Software))
	return o
}

func addKnown[T any](o *object, key string, f probes.Fact[T]) {
	if v, known := f.Get(); known {
		o.add(key, v)
	}
}

func addText(o *object, key, text string) {
	if text != "" {
		o.add(key, text)
	}
}

// orUnknown is a required text: the fact, or that it is not known and why.
func orUnknown(text, reason string) string { return cmp.Or(text, "unknown: "+reason) }

// hostMemory is what is installed, as it is sold, or what the system sees.
func hostMemory(m probes.Memory) string {
	for _, f := range []probes.Fact[int64]{m.InstalledBytes, m.Bytes} {
		if n, known := f.Get(); known {
			return figure.Size(n)
		}
	}
	return ""
}

func memoryConfiguration(m probes.Memory) string {
	text := m.Summary.Value
	if n, known := m.Bytes.Get(); known {
		text = strings.TrimSpace(text + " (" + figure.Memory(n) + " reported by the OS)")
	}
	return orUnknown(text, m.Summary.Reason())
}

// acceleratorInfo lists each kind of accelerator of a node; none is an empty list.
func acceleratorInfo(s probes.SUT) []object {
	list := []object{}
	seen := map[string]int{}
	for _, a := range s.Accelerators.Items {
		if s.Aside(a) {
			continue
		}
		o := object{}
		addKnown(&o, "accelerator_model_name", a.Name)
		o.add("accelerators_per_node", 1)
		addText(&o, "accelerator_memory_capacity", capacity(a))
		addKnown(&o, "accelerator_memory_type", a.MemoryType)
		addText(&o, "accelerator_interconnect", interconnect(s, a))
		addText(&o, "accelerator_host_interconnect", hostInterconnect(a.Link))
		kind := fmt.Sprint(o)
		at, again := seen[kind]
		if !again {
			seen[kind] = len(list)
			list = append(list, o)
			continue
		}
		i := slices.IndexFunc(list[at], func(m member) bool { return m.Key == "accelerators_per_node" })
		list[at][i].Value = list[at][i].Value.(int) + 1
	}
	return list
}

func capacity(a probes.Accelerator) string {
	n, known := a.VRAMBytes.Get()
	if !known {
		return ""
	}
	if gb, sold := machine.NominalGB(a.Name.Value, n); sold {
		return strconv.Itoa(gb) + " GB"
	}
	return figure.Size(n)
}

// interconnect says how a device reaches the others; a machine with one has none.
func interconnect(s probes.SUT, a probes.Accelerator) string {
	kind, known := s.Interconnect.Kind.Get()
	if !known || len(s.Accelerators.Items) < 2 {
		return ""
	}
	for _, f := range []struct {
		kind, name, unit string
		count            probes.Fact[int]
	}{{"xgmi", "XGMI", "peer", a.XGMIPeers}, {"nvlink", "NVLink", "link", a.NVLinks}} {
		if n, told := f.count.Get(); f.kind == kind && told && n > 0 {
			return fmt.Sprintf("%s (%s)", f.name, figure.Plural(n, f.unit))
		}
	}
	return map[string]string{"xgmi": "XGMI", "nvlink": "NVLink", "pcie": "PCIe"}[kind]
}

// hostInterconnect is the PCIe link that device and slot can hold; an idle card's own rate may be lower.
func hostInterconnect(l probes.Link) string {
	rate, width := lowest(l.MaxGTS, l.SlotMaxGTS), lowest(l.Width, l.SlotMaxWidth)
	if rate == 0 {
		rate = l.GTS.Value
	}
	generation, known := map[float64]int{2.5: 1, 5: 2, 8: 3, 16: 4, 32: 5, 64: 6}[rate]
	if !known || width == 0 {
		return ""
	}
	return fmt.Sprintf("PCIe Gen%d x%d", generation, width)
}

// lowest is the least of the known, 0 when none is.
func lowest[T int | float64](facts ...probes.Fact[T]) (least T) {
	for _, f := range facts {
		if v, known := f.Get(); known && (least == 0 || v < least) {
			least = v
		}
	}
	return least
}

// cards is the network cards as a text, which the checker wants where other counts are numbers.
func cards(n probes.Network) string {
	if text, known := n.Summary.Get(); known {
		return text
	}
	count := 0
	for _, c := range n.Interfaces.Items {
		if c.Kind.Value == "ethernet" && c.Model.IsKnown() {
			count++
		}
	}
	if n.Interfaces.Unknown != "" {
		return "unknown: " + n.Interfaces.Unknown
	}
	return strconv.Itoa(count)
}

// storageCapacity is the drives by size, and the file system that holds the model.
func storageCapacity(s probes.Storage, model string) string {
	parts := counted(s.Devices.Items, func(d probes.Drive) string {
		if n, known := d.Bytes.Get(); known {
			return figure.Capacity(n) + " " + driveKind(d)
		}
		return ""
	})
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, ", ") + " visible to the OS"
	f := modelFilesystem(s, model)
	if n, known := f.Bytes.Get(); known {
		text += "; " + figure.Capacity(n) + " " + strings.ToUpper(f.FSType.Value) + " (" + f.Mount.Value + ")"
	}
	return text
}

func driveKind(d probes.Drive) string {
	return map[string]string{"nvme": "NVMe", "ssd": "SSD", "hdd": "HDD"}[d.Kind.Value]
}

func storageType(s probes.Storage) string {
	return strings.Join(counted(s.Devices.Items, func(d probes.Drive) string { return cmp.Or(d.Model.Value, driveKind(d)) }), ", ")
}

// counted says what items have in common, each text once with its number where there are several: "7x 1.6 TB NVME".
func counted[T any](items []T, of func(T) string) []string {
	var order []string
	counts := map[string]int{}
	for _, item := range items {
		if text := strings.TrimSpace(of(item)); text != "" {
			if counts[text]++; counts[text] == 1 {
				order = append(order, text)
			}
		}
	}
	for i, text := range order {
		if counts[text] > 1 {
			order[i] = fmt.Sprintf("%dx %s", counts[text], text)
		}
	}
	return order
}

// hardwareNotes are what the rules ask evidence of: power limits against the factory's, BIOS and firmware of the accelerators.
func hardwareNotes(s probes.SUT) string {
	notes := counted(s.Accelerators.Items, powerNote)
	if v, known := s.System.BIOS.Version.Get(); known {
		note := "BIOS " + v
		if d, dated := s.System.BIOS.Date.Get(); dated {
			note += " (" + d + ")"
		}
		notes = append(notes, note)
	}
	for _, v := range counted(s.Accelerators.Items, func(a probes.Accelerator) string { return a.VBIOS.Value }) {
		notes = append(notes, "GPU VBIOS "+v)
	}
	if w, known := s.Power.ProvisionedW.Get(); known {
		notes = append(notes, fmt.Sprintf("provisioned power %g W: %s", math.Round(w), s.Power.Method.Value))
	}
	return strings.Join(notes, "; ")
}

func powerNote(a probes.Accelerator) string {
	limit, known := a.PowerCapW.Get()
	source := a.PowerCapW.Source
	if strings.HasPrefix(source, "/") {
		source = path.Base(source) // the file is another for each device
	}
	standard, has := a.PowerDefaultW.Get()
	switch {
	case !known:
		return ""
	case has && limit == standard:
		return fmt.Sprintf("GPU at the default power limit of %g W (%s)", limit, source)
	case has:
		return fmt.Sprintf("GPU power limit %g W, default %g W (%s)", limit, standard, source)
	}
	return fmt.Sprintf("GPU power limit %g W (%s)", limit, source)
}

// driver names the driver of the accelerators with its user space on the host; a required text.
func driver(s probes.SUT) string {
	w := s.Software
	var parts []string
	for _, d := range []struct {
		driver, library probes.Fact[string]
		name, host      string
	}{{w.AMDGPU, w.ROCm, "amdgpu ", "host ROCm "}, {w.NVIDIADriver, w.CUDA, "NVIDIA ", "CUDA up to "}} {
		if v, known := d.driver.Get(); known {
			text := d.name + v
			if l, has := d.library.Get(); has {
				text += " (" + d.host + l + ")"
			}
			parts = append(parts, text)
		}
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case s.Accelerators.Unknown == "" && len(s.Accelerators.Items) == 0:
		return "none: no accelerators"
	}
	return "unknown: " + cmp.Or(w.AMDGPU.Unknown, w.NVIDIADriver.Unknown, s.Accelerators.Unknown, "no driver of the accelerators is known")
}

func operatingSystem(o probes.OS) string {
	text := o.Distro.Value
	if k, known := o.Kernel.Get(); known {
		text = strings.TrimSpace(text + " (kernel " + k + ")")
	}
	return text
}

// filesystem is what the model lies on; a required text.
func filesystem(s probes.Storage, model string) string {
	f, stack := modelFilesystem(s, model), ""
	if len(f.Stack.Value) > 0 {
		stack = strings.Join(f.Stack.Value, " on ") + " (" + f.Mount.Value + ")"
	}
	return orUnknown(cmp.Or(f.Summary.Value, stack), cmp.Or(s.Filesystems.Unknown, "no file system holds the model"))
}

// modelFilesystem is what holds the model, or the largest one where its path is not known.
func modelFilesystem(s probes.Storage, model string) (best probes.Filesystem) {
	for _, f := range s.Filesystems.Items {
		if model != "" && len(f.PlaceOf(model)) > len(best.PlaceOf(model)) || model == "" && f.Bytes.Value > best.Bytes.Value {
			best = f
		}
	}
	return best
}

func containerTools(w probes.Software) string {
	var parts []string
	for _, t := range []struct {
		name    string
		version probes.Fact[string]
	}{{"Docker", w.Docker}, {"Podman", w.Podman}, {"containerd", w.Containerd}, {"NVIDIA container toolkit", w.ContainerToolkit}, {"AMD container toolkit", w.AMDContainerToolkit}} {
		if v, known := t.version.Get(); known {
			parts = append(parts, t.name+" "+v)
		}
	}
	return strings.Join(parts, ", ")
}
