package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"assay/probes"
)

// machineView is the data of the page of the machine.
type machineView struct {
	ProbedAtUS int64
	Checks     []probes.Check
	Failed     int
	Groups     []factGroup
}

func (s *Server) pageMachine(c echo.Context) error {
	sut, checks, err := s.machine.last(c.Request().Context(), s.Controller)
	if err != nil {
		return err
	}
	v := machineView{ProbedAtUS: sut.ProbedAtUS, Checks: checks}
	for _, check := range checks {
		if check.State == probes.CheckFail {
			v.Failed++
		}
	}
	if v.Groups, err = factGroups(sut); err != nil {
		return err
	}
	return s.render(c, http.StatusOK, "machine.html", page{Title: "Machine", Section: "machine", Main: v})
}

func (s *Server) formProbe(c echo.Context) error {
	if _, _, err := s.machine.again(c.Request().Context(), s.Controller); err != nil {
		return err
	}
	return seeOther(c, "/machine")
}

// factRow is one fact as the page shows it.
type factRow struct {
	Label  string
	Value  string
	Source string // where it was read
	Reason string // why there is no value
	Known  bool
}

// factGroup is the facts of one part of the machine.
type factGroup struct {
	Title  string
	key    string // of the member it was made from
	Rows   []factRow
	Groups []factGroup // items of its lists
}

// factGroups walks the SUT document, so that a new fact shows up without a line here. Known facts of a section come as one
// table; each item of a list is a group of its own.
func factGroups(sut probes.SUT) ([]factGroup, error) {
	doc, err := json.Marshal(sut)
	if err != nil {
		return nil, fmt.Errorf("read the SUT document: %w", err)
	}
	sections, err := members(doc)
	if err != nil {
		return nil, err
	}
	var out []factGroup
	for _, m := range sections {
		if m.key == "schema" || m.key == "probed_at_us" || m.key == "program" {
			continue // no facts
		}
		g := factGroup{Title: title(m.key), key: m.key}
		if err := g.add("", m.key, m.value); err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	return out, nil
}

// add puts what a member of the document holds into the group: a fact, an object of facts, or a list.
func (g *factGroup) add(prefix, key string, raw json.RawMessage) error {
	if row, ok := factOf(key, raw); ok {
		row.Label = strings.TrimSpace(prefix + " " + label(key))
		g.Rows = append(g.Rows, row)
		return nil
	}
	if raw[0] == '[' {
		return g.addList(strings.TrimSpace(prefix+" "+label(key)), raw)
	}
	inner, err := members(raw)
	if err != nil {
		return err
	}
	if prefix == "" && key != g.key {
		prefix = label(key)
	}
	for _, m := range inner {
		if err := g.add(prefix, m.key, m.value); err != nil {
			return err
		}
	}
	return nil
}

func (g *factGroup) addList(name string, raw json.RawMessage) error {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return fmt.Errorf("read the list %s: %w", name, err)
	}
	if len(items) == 0 || items[0][0] != '{' {
		g.Rows = append(g.Rows, factRow{Label: name, Value: plainList(raw), Known: true})
		return nil
	}
	for i, item := range items {
		one := factGroup{Title: title(name) + " " + strconv.Itoa(i), key: name}
		if err := one.add("", name, item); err != nil {
			return err
		}
		one.name()
		g.Groups = append(g.Groups, one)
	}
	return nil
}

// name puts what identifies a list's item into its title.
func (g *factGroup) name() {
	for _, want := range []string{"name", "mount", "slot", "model", "PCI address"} {
		for _, r := range g.Rows {
			if r.Label == want && r.Known {
				g.Title += " · " + r.Value
				return
			}
		}
	}
}

// factOf reads one of the three forms of a fact.
func factOf(key string, raw json.RawMessage) (factRow, bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return factRow{}, false
	}
	var f struct {
		Value   json.RawMessage `json:"value"`
		Source  *string         `json:"source"`
		Unknown *string         `json:"unknown"`
		NA      *string         `json:"na"`
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return factRow{}, false
	}
	switch {
	case f.Unknown != nil:
		return factRow{Value: "unknown", Reason: *f.Unknown}, true
	case f.NA != nil:
		return factRow{Value: "not applicable", Reason: *f.NA}, true
	case f.Source != nil:
		return factRow{Value: plainValue(key, f.Value), Source: *f.Source, Known: true}, true
	}
	return factRow{}, false
}

// plainValue writes a fact's value with its unit, which its name holds.
func plainValue(key string, raw json.RawMessage) string {
	var number float64
	var text string
	var yes bool
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return text
	case json.Unmarshal(raw, &yes) == nil && yes:
		return "yes"
	case string(raw) == "false":
		return "no"
	case raw[0] == '[':
		return plainList(raw)
	case json.Unmarshal(raw, &number) != nil:
		return string(raw)
	case strings.HasSuffix(key, "bytes"):
		return gibibytes(number)
	}
	return strings.TrimSpace(string(raw) + " " + unit(key))
}

func plainList(raw json.RawMessage) string {
	var items []any
	if err := json.Unmarshal(raw, &items); err != nil {
		return string(raw)
	}
	if len(items) == 0 {
		return "none"
	}
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = fmt.Sprint(item)
	}
	return strings.Join(texts, ", ")
}

// units are the ends of names that are units, in the order they are tried.
func units() []struct{ suffix, unit string } {
	return []struct{ suffix, unit string }{{"_w", "W"}, {"_mts", "MT/s"}, {"_mbps", "Mb/s"}, {"_gbps", "Gb/s"}, {"gts", "GT/s"}, {"_us", "µs"}}
}

func unit(key string) string {
	for _, u := range units() {
		if strings.HasSuffix(key, u.suffix) {
			return u.unit
		}
	}
	return ""
}

// label is a name of the document as words, without its unit.
func label(key string) string {
	if key == "bytes" {
		return "size"
	}
	for _, suffix := range []string{"_bytes", "_w", "_mts", "_mbps", "_gbps"} {
		key = strings.TrimSuffix(key, suffix)
	}
	parts := strings.Split(key, "_")
	for i, part := range parts {
		if slices.Contains(capitals(), part) {
			parts[i] = strings.ToUpper(part)
		}
	}
	return strings.Join(parts, " ")
}

// capitals are words of the document that are written in capitals.
func capitals() []string {
	return []string{"cpu", "os", "bios", "bmc", "numa", "smt", "pci", "vram", "ifwi", "vbios", "ecc", "xgmi", "thp", "aspm", "iommu", "cuda", "nvidia", "id"}
}

// title is a label as a heading.
func title(key string) string {
	l := label(key)
	return strings.ToUpper(l[:1]) + l[1:]
}

func gibibytes(n float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= u.size {
			return strconv.FormatFloat(n/u.size, 'f', 1, 64) + " " + u.name
		}
	}
	return strconv.FormatFloat(n, 'f', 0, 64) + " B"
}

// member is one entry of a JSON object.
type member struct {
	key   string
	value json.RawMessage
}

// members reads a JSON object and keeps its order, which is the order of the contract.
func members(raw json.RawMessage) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil { // the opening brace
		return nil, fmt.Errorf("read the SUT document: %w", err)
	}
	var out []member
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("read the SUT document: %w", err)
		}
		m := member{key: fmt.Sprint(key)}
		if err := d.Decode(&m.value); err != nil {
			return nil, fmt.Errorf("read the SUT document at %s: %w", m.key, err)
		}
		out = append(out, m)
	}
	return out, nil
}
