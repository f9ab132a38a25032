package gpu

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"assay/probes/sut"
)

// smiNode is an element of nvidia-smi's report. The XML, the indented text and a CSV row all become the same tree.
type smiNode struct {
	name, text string
	kids       []*smiNode
}

func (n *smiNode) add(name, text string) *smiNode {
	kid := &smiNode{name: name, text: text}
	n.kids = append(n.kids, kid)
	return kid
}

// find gives the first node at a path "a/b", nil when there is none.
func (n *smiNode) find(where string) *smiNode {
	for part := range strings.SplitSeq(where, "/") {
		if n == nil {
			return nil
		}
		n = n.kid(part)
	}
	return n
}

func (n *smiNode) kid(name string) *smiNode {
	for _, k := range n.kids {
		if k.name == name {
			return k
		}
	}
	return nil
}

func (n *smiNode) all(name string) []*smiNode {
	var list []*smiNode
	for _, k := range n.kids {
		if k.name == name {
			list = append(list, k)
		}
	}
	return list
}

// fact gives the value at the first of the paths that exists; drivers renamed elements. nvidia-smi's words for no value are unknown.
func (n *smiNode) fact(source string, where ...string) sut.Fact[string] {
	for _, w := range where {
		node := n.find(w)
		if node == nil {
			continue
		}
		if !smiValue(node.text) {
			return sut.Unknown[string]("nvidia-smi says %q for %s", node.text, w)
		}
		return sut.Known(node.text, source+" "+w)
	}
	return sut.Unknown[string]("nvidia-smi does not give %s", where[0])
}

// smiValue tells a value from the words for none.
func smiValue(s string) bool {
	switch strings.ToLower(strings.Trim(s, "[]")) {
	case "", "n/a", "not supported", "unknown error", "err!", "gpu requires reset", "insufficient permissions", "not found", "unknown", "gpu is lost",
		"requested functionality has been deprecated", "reset required", "no permission":
		return false
	}
	return true
}

const (
	maxSMIDepth = 32
	maxSMIGPUs  = 1024
)

// parseSMIXML reads `nvidia-smi -q -x`. A report that is cut off is an error, never a smaller machine.
func parseSMIXML(b []byte) (*smiNode, error) {
	if i := bytes.IndexByte(b, '<'); i > 0 {
		b = b[i:] // warnings come first
	}
	d := xml.NewDecoder(bytes.NewReader(b))
	root := &smiNode{}
	stack := []*smiNode{root}
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("nvidia-smi's XML is broken: %w", err)
		}
		top := stack[len(stack)-1]
		switch t := tok.(type) {
		case xml.StartElement:
			if len(stack) > maxSMIDepth {
				return nil, errors.New("nvidia-smi's XML is nested too deeply")
			}
			kid := top.add(t.Name.Local, "")
			for _, a := range t.Attr {
				kid.add("@"+a.Name.Local, a.Value)
			}
			stack = append(stack, kid)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			top.text = strings.TrimSpace(top.text + string(t))
		}
	}
	log := root.kid("nvidia_smi_log")
	if log == nil {
		return nil, errors.New("nvidia-smi printed no nvidia_smi_log element")
	}
	_, err := log.announced()
	return log, err
}

// parseSMIText reads `nvidia-smi -q`, whose nesting is its indentation; keys repeat, so only the whole path names a value.
func parseSMIText(b []byte) (*smiNode, error) {
	if !bytes.Contains(b, []byte("NVSMI LOG")) {
		return nil, errors.New("nvidia-smi printed no NVSMI LOG")
	}
	root := &smiNode{}
	type level struct {
		indent int
		node   *smiNode
	}
	stack := []level{{-1, root}}
	for line := range strings.Lines(string(b)) {
		body := strings.TrimLeft(strings.TrimRight(line, " \r\n"), " ")
		if body == "" || strings.HasPrefix(body, "=") {
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " "))
		for len(stack) > 1 && stack[len(stack)-1].indent >= indent {
			stack = stack[:len(stack)-1]
		}
		if len(stack) > maxSMIDepth {
			return nil, errors.New("nvidia-smi's text is nested too deeply")
		}
		top := stack[len(stack)-1].node
		kid := (*smiNode)(nil)
		if id, ok := strings.CutPrefix(body, "GPU "); ok && indent == 0 {
			kid = top.add("gpu", "")
			kid.add("@id", strings.TrimSpace(id))
		} else {
			key, value, _ := strings.Cut(body, ": ")
			kid = top.add(slug(strings.TrimSuffix(strings.TrimSpace(key), ":")), strings.TrimSpace(value))
		}
		stack = append(stack, level{indent, kid})
	}
	return root, complete(root)
}

// slug writes a key of the text as the XML does: "FB Memory Usage" is fb_memory_usage.
func slug(key string) string {
	words := strings.FieldsFunc(strings.ToLower(key), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(words, "_")
}

// announced is the number of GPUs that the report says are attached.
func (n *smiNode) announced() (int, error) {
	said := n.kid("attached_gpus")
	if said == nil {
		return 0, errors.New("nvidia-smi does not say how many GPUs are attached")
	}
	count, err := strconv.Atoi(said.text)
	if found := len(n.all("gpu")); err != nil || count < found || count > maxSMIGPUs {
		return 0, fmt.Errorf("nvidia-smi announces %q GPUs and lists %d", said.text, found)
	}
	return count, nil
}

// complete refuses a report that lists fewer GPUs than it announces, where that is the only sign of having been cut off.
func complete(log *smiNode) error {
	n, err := log.announced()
	if found := len(log.all("gpu")); err == nil && n != found {
		return fmt.Errorf("nvidia-smi announces %d GPUs and lists %d: its report is cut off or a GPU is lost", n, found)
	}
	return err
}

// smiColumns says where in the tree a field of a CSV query belongs.
func smiColumns() map[string]string {
	return map[string]string{
		"name": "product_name", "gpu_name": "product_name", "uuid": "uuid", "gpu_uuid": "uuid", "pci.bus_id": "@id", "gpu_bus_id": "@id",
		"pci.device_id": "pci/pci_device_id", "pci.sub_device_id": "pci/pci_sub_system_id", "vbios_version": "vbios_version", "compute_cap": "compute_cap",
		"driver_version": "driver_version", "memory.total": "fb_memory_usage/total", "memory.used": "fb_memory_usage/used",
		"persistence_mode": "persistence_mode", "ecc.mode.current": "ecc_mode/current_ecc", "mig.mode.current": "mig_mode/current_mig",
		"power.limit": "gpu_power_readings/requested_power_limit", "enforced.power.limit": "gpu_power_readings/current_power_limit",
		"power.default_limit": "gpu_power_readings/default_power_limit", "power.min_limit": "gpu_power_readings/min_power_limit",
		"power.max_limit": "gpu_power_readings/max_power_limit", "pcie.link.gen.current": "pci/pci_gpu_link_info/pcie_gen/current_link_gen",
		"pcie.link.gen.gpumax": "pci/pci_gpu_link_info/pcie_gen/max_device_link_gen", "pcie.link.gen.max": "pci/pci_gpu_link_info/pcie_gen/max_link_gen",
		"pcie.link.width.current": "pci/pci_gpu_link_info/link_widths/current_link_width", "pcie.link.width.max": "pci/pci_gpu_link_info/link_widths/max_link_width",
		"power.draw": "power_draw", "power.draw.instant": "power_draw_instant", "temperature.gpu": "gpu_temp", "utilization.gpu": "gpu_util", "clocks.current.sm": "sm_clock", "clocks.sm": "sm_clock",
	}
}

// parseSMICSV reads `nvidia-smi --query-gpu=… --format=csv` by its header; units stand in the header or behind the values.
func parseSMICSV(b []byte) (*smiNode, error) {
	r := csv.NewReader(bytes.NewReader(b))
	r.TrimLeadingSpace = true
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("nvidia-smi's CSV is broken: %w", err)
	}
	if len(rows) == 0 {
		return nil, errors.New("nvidia-smi printed no CSV header")
	}
	columns, log := smiColumns(), &smiNode{}
	for _, row := range rows[1:] {
		gpu := log.add("gpu", "")
		for i, head := range rows[0] {
			field, _, _ := strings.Cut(strings.TrimSpace(head), " [")
			value := strings.TrimSpace(row[i])
			switch reason, isReason := strings.CutPrefix(field, "clocks_event_reasons."); {
			case field == "driver_version" && log.kid("driver_version") == nil:
				log.add("driver_version", value)
			case isReason && reason != "active" && reason != "supported":
				gpu.put("clocks_event_reasons/"+reason, value)
			case field == "count" && value != strconv.Itoa(len(rows)-1):
				return nil, fmt.Errorf("nvidia-smi counts %s GPUs and lists %d", value, len(rows)-1)
			case columns[field] != "":
				gpu.put(columns[field], value)
			}
		}
		if gpu.kid("@id") == nil {
			return nil, errors.New("nvidia-smi's CSV has no pci.bus_id column")
		}
	}
	return log, nil
}

func (n *smiNode) put(where, text string) {
	for part := range strings.SplitSeq(where, "/") {
		next := n.kid(part)
		if next == nil {
			next = n.add(part, "")
		}
		n = next
	}
	n.text = text
}

// smiNumber reads "700.00 W", "81559 MiB", "16x", "5"; a count of all ones is none.
func smiNumber(s string) (float64, error) {
	number, _, _ := strings.Cut(s, " ")
	v, err := strconv.ParseFloat(strings.TrimSuffix(number, "x"), 64)
	if err != nil || !(v >= 0 && v < 4294967295) {
		return 0, sut.ErrNoValue
	}
	return v, nil
}

// parseNVLinks counts the active links of each GPU in `nvidia-smi nvlink -s`, in its order; unknown where the tool does not say.
func parseNVLinks(text string) []sut.Fact[int] {
	const source = "nvidia-smi nvlink -s"
	var counts []sut.Fact[int]
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		last := len(counts) - 1
		switch {
		case strings.HasPrefix(line, "GPU "):
			counts = append(counts, sut.Unknown[int]("%s lists no link", source))
		case last < 0:
		case strings.HasPrefix(line, "Link "):
			if !counts[last].IsKnown() {
				counts[last] = sut.Known(0, source)
			}
			if strings.Contains(line, "GB/s") {
				counts[last].Value++
			}
		case strings.Contains(line, "does not have or support"):
			counts[last] = sut.Known(0, source)
		case line != "" && !counts[last].IsKnown():
			counts[last] = sut.Unknown[int]("%s says %q", source, line)
		}
	}
	return counts
}

// parseMIG gives the instances of each GPU in `nvidia-smi -L`: ["3g.40gb", …].
func parseMIG(text string) [][]string {
	var gpus [][]string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "GPU ") {
			gpus = append(gpus, []string{})
		}
		fields := strings.Fields(line)
		if len(gpus) > 0 && len(fields) > 1 && fields[0] == "MIG" {
			gpus[len(gpus)-1] = append(gpus[len(gpus)-1], fields[1])
		}
	}
	return gpus
}
