package export

import (
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"assay/report/figure"
	"assay/report/machine"
	"assay/report/point"
	"assay/result"
	"assay/runner/metrics"
)

// column is one column: its header and its value of a point, "" when it is not known.
type column struct {
	Head string
	Of   func(p result.Point) string
}

// CSV writes a row per point and a column per metric, over every population; units stand in the header.
func CSV(w io.Writer, r result.Result) error {
	out := csv.NewWriter(w)
	r.Points = point.Utilized(r.Points)
	columns := csvColumns(r)
	var head []string
	for _, c := range columns {
		head = append(head, c.Head)
	}
	if err := out.Write(head); err != nil {
		return fmt.Errorf("write csv: %w", err)
	}
	for _, p := range r.Points {
		var line []string
		for _, c := range columns {
			line = append(line, harmless(c.Of(p)))
		}
		if err := out.Write(line); err != nil {
			return fmt.Errorf("write csv: %w", err)
		}
	}
	out.Flush()
	return out.Error()
}

// harmless keeps a spreadsheet from running a text as a formula; numbers stay as they are.
func harmless(s string) string {
	if s == "" || !strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return s
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return s
	}
	return "'" + s
}

func csvColumns(r result.Result) []column {
	columns := settingColumns(r)
	columns = append(columns, summaryColumns("", point.InWindow, r.Points)...)
	columns = append(columns, summaryColumns("mlperf.", point.IssueToDrain, r.Points)...)
	columns = append(columns, summaryColumns("inside.", point.WhollyInside, r.Points)...)
	columns = append(columns, summaryColumns("cell.", point.InCell, r.Points)...)
	columns = append(columns, clientColumns()...)
	return append(columns,
		column{"engine.running [requests]", func(p result.Point) string {
			if running, told := p.Telemetry["engine.running"]; told {
				return figure.Plain(running.Mean)
			}
			return ""
		}},
		column{"tokens_per_joule [tok/J]", func(p result.Point) string { return optional(point.TokensPerJoule(p)) }},
		column{"recording_sha256", func(p result.Point) string {
			if p.Recording == nil {
				return ""
			}
			return p.Recording.SHA256
		}},
		column{"notes", func(p result.Point) string { return strings.Join(p.Notes, "; ") }},
		column{"run_verdict", func(result.Point) string { return r.Run.Verdict }},
		column{"allow_unpinned", func(result.Point) string { return strconv.FormatBool(point.PlanOf(r).Unpinned) }},
	)
}

func settingColumns(r result.Result) []column {
	window := func(of func(result.Window) string) func(result.Point) string {
		return func(p result.Point) string {
			if p.Window == nil {
				return ""
			}
			return of(*p.Window)
		}
	}
	return []column{
		{"run", func(result.Point) string { return r.Run.ID }},
		{"point", func(p result.Point) string { return p.ID }},
		{"phase", func(p result.Point) string { return p.Phase }},
		{"concurrency", func(p result.Point) string { return whole(p.Concurrency) }},
		{"rate [1/s]", func(p result.Point) string { return optional(p.Rate) }},
		{"speed", func(p result.Point) string { return optional(p.Speed) }},
		{"context [tok]", func(p result.Point) string { return whole(p.Context) }},
		{"router", func(p result.Point) string { return p.Router }},
		{"state", func(p result.Point) string { return string(p.State) }},
		{"reasons", func(p result.Point) string { return strings.Join(point.ReasonCodes(p), " ") }},
		{"window_started [us UTC]", window(func(w result.Window) string { return strconv.FormatInt(w.StartedUS, 10) })},
		{"window_ended [us UTC]", window(func(w result.Window) string { return strconv.FormatInt(w.EndedUS, 10) })},
	}
}

func optional(v *float64) string {
	if v == nil {
		return ""
	}
	return figure.Plain(*v)
}

func whole(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

// summaryColumns walks the summary's type, so that a new metric gets its columns without a change here.
func summaryColumns(prefix string, pop point.Population, points []result.Point) []column {
	units := map[string]string{}
	for _, d := range metrics.Table() {
		units[d.ID] = d.Unit
	}
	var columns []column
	t := reflect.TypeFor[metrics.Summary]()
	for i := range t.NumField() {
		id := machine.FieldName(t.Field(i))
		switch t.Field(i).Type {
		case reflect.TypeFor[map[string]int]():
			columns = append(columns, outcomeColumns(prefix, pop, points)...)
		case reflect.TypeFor[*metrics.Distribution]():
			columns = append(columns, distributionColumns(prefix+id, pop, i)...)
		default:
			columns = append(columns, column{unitHead(prefix+id, units[id]), fieldOf(pop, i, -1)})
		}
	}
	return columns
}

func unitHead(name, unit string) string {
	if unit == "" {
		return name
	}
	return name + " [" + unit + "]"
}

// distributionColumns are the members of a distribution: "ttft_ms.p90 [ms]".
func distributionColumns(name string, pop point.Population, field int) []column {
	var columns []column
	t := reflect.TypeFor[metrics.Distribution]()
	for j := range t.NumField() {
		member, unit := machine.FieldName(t.Field(j)), "ms"
		if member == "n" {
			unit = ""
		}
		columns = append(columns, column{unitHead(name+"."+member, unit), fieldOf(pop, field, j)})
	}
	return columns
}

// fieldOf reads a field of the summary, or member j of the distribution in it.
func fieldOf(pop point.Population, i, j int) func(result.Point) string {
	return func(p result.Point) string {
		s := pop(p)
		if s == nil {
			return ""
		}
		v := reflect.ValueOf(*s).Field(i)
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return ""
			}
			v = v.Elem()
		}
		if j >= 0 {
			v = v.Field(j)
		}
		if v.CanInt() {
			return strconv.FormatInt(v.Int(), 10)
		}
		return figure.Plain(v.Float())
	}
}

// outcomeColumns has a column per outcome that any point has.
func outcomeColumns(prefix string, pop point.Population, points []result.Point) []column {
	var columns []column
	for _, name := range point.Outcomes(points, pop) {
		columns = append(columns, column{prefix + "outcomes." + name, func(p result.Point) string {
			s := pop(p)
			if s == nil {
				return ""
			}
			return strconv.Itoa(s.Outcomes[name])
		}})
	}
	return columns
}

func clientColumns() []column {
	var columns []column
	for _, f := range point.ClientFigures() {
		columns = append(columns, column{"client." + f.ID, func(p result.Point) string {
			if p.Client == nil {
				return ""
			}
			return f.ForPrograms(*p.Client)
		}})
	}
	return columns
}
