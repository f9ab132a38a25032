package report

import (
	"fmt"
	"slices"
	"strings"

	"assay/report/figure"
	"assay/report/point"
	"assay/report/table"
	"assay/result"
	"assay/runner/metrics"
)

// row is one line of the run data table: a point's value for each column.
type row struct {
	Label  string
	Metric string // id in the metric table, whose definition is the hover text; "" when it is no metric
	Title  string // hover text of what is no metric
	Class  string // group | key | ""
	Cell   func(p result.Point) table.Cell
}

// runRows is the run data table, in the order and with the rows of a published MLPerf Endpoints page and ours between them.
func (v view) runRows() []row {
	rows := v.settingRows()
	rows = append(rows, headlineRows(point.InWindow, point.Streams)...)
	rows = append(rows, v.describeRows()...)
	rows = append(rows, volumeRows(point.InWindow)...)
	rows = append(rows, row{Label: "Prefix hit rate by the engine's counters, %", Class: "optional", Cell: enginePrefixCell})
	return v.shown(append(rows, latencyRows(point.Streams)...))
}

// drainGrid is the same over issue to drain; nil when no point has it.
func (v view) drainGrid() *table.Grid {
	if !slices.ContainsFunc(v.res.Points, func(p result.Point) bool { return p.MLPerf != nil }) {
		return nil
	}
	return v.grid(v.drainRows(), true)
}

// drainRows is the same over the whole issue-to-drain time, as MLPerf defines the figures.
func (v view) drainRows() []row {
	rows := headlineRows(point.IssueToDrain, point.IssueToDrain)
	rows = append(rows, volumeRows(point.IssueToDrain)...)
	return v.shown(append(rows, latencyRows(point.IssueToDrain)...))
}

// shown leaves out the optional rows that no point of this run has a value for, and headings left without rows.
func (v view) shown(rows []row) []row {
	kept := slices.DeleteFunc(rows, func(r row) bool {
		return r.Class == "optional" && !slices.ContainsFunc(v.res.Points, func(p result.Point) bool { return r.Cell(p).Text != figure.None })
	})
	var out []row
	for i, r := range kept {
		last := i+1 == len(kept) || kept[i+1].Class == "group"
		if r.Class != "group" || !last {
			out = append(out, r)
		}
	}
	return out
}

func (v view) settingRows() []row {
	return []row{
		{Label: "Run date", Cell: v.pointDate},
		{Label: "Concurrency", Class: "key", Cell: func(p result.Point) table.Cell { return number(intValue(p.Concurrency), figure.Whole) }},
		{Label: "Rate, requests/s", Class: "optional", Cell: func(p result.Point) table.Cell { return number(p.Rate, figure.Plain) }},
		{Label: "Speed of the trace", Class: "optional", Cell: func(p result.Point) table.Cell { return number(p.Speed, figure.Plain) }},
		{Label: "Context, tokens", Class: "optional", Cell: func(p result.Point) table.Cell { return number(intValue(p.Context), figure.Whole) }},
	}
}

func (v view) pointDate(p result.Point) table.Cell {
	if p.Window == nil {
		return table.Cell{Text: figure.Day(v.res.Run.StartedUS)}
	}
	return table.Cell{Text: figure.Day(p.Window.StartedUS), Title: "window opened " + figure.Instant(p.Window.StartedUS)}
}

// describeRows say what ran and how it ended.
func (v view) describeRows() []row {
	program := v.res.Run.Program
	same := func(text, title string) func(result.Point) table.Cell {
		if text == "" {
			text = figure.None
		}
		return func(result.Point) table.Cell { return table.Cell{Text: text, Title: title} }
	}
	return []row{
		{Label: "Configuration summary", Cell: v.configuration},
		{Label: "Config type", Cell: same(v.configType())},
		{Label: "Config region", Cell: same(figure.None, "regions are assigned when a curve is submitted")},
		{Label: "Target QPS", Cell: func(p result.Point) table.Cell { return number(p.Rate, figure.Plain) }},
		{Label: "Router", Class: "optional", Cell: func(p result.Point) table.Cell { return text(strings.TrimPrefix(p.Router, "none")) }},
		{Label: "Warm-up", Class: "optional", Cell: func(p result.Point) table.Cell { return text(point.WarmedUp(p)) }},
		{Label: "Result state", Cell: func(p result.Point) table.Cell { return stateCell(p.State) }},
		{Label: "Reasons", Class: "optional", Cell: reasonsCell},
		{Label: "Measured accuracy score", Cell: same(figure.None, "this protocol measures speed; accuracy is measured apart")},
		{Label: "Benchmark version", Cell: same(figure.Short(program.Commit, 12), "commit of assay "+program.Commit)},
		{Label: "Result version", Cell: same(program.Version, v.res.Schema)},
		{Label: "Archive URI", Cell: same(v.archiveURI())},
		{Label: "Recording, SHA-256", Cell: recordingCell},
	}
}

// archiveURI is where the run's archive lies, as seen from the report beside it.
func (v view) archiveURI() (string, string) {
	if v.unpacked {
		return figure.None + " not packed", "no archive of this run was asked for; assay archive " + v.res.Run.ID + " packs one"
	}
	return result.ArchiveName, "beside this report in the run's folder: one signed archive of all points"
}

func (v view) configType() (string, string) {
	switch v.protocol {
	case "sweep":
		return "closed loop", "exactly C requests in flight, refilled at once"
	case "serve":
		return "open loop", "absolute schedule that never waits for a reply"
	case "matrix":
		return "matrix", "cold-cache prefill, then sustained decode"
	}
	return figure.None, ""
}

func (v view) configuration(p result.Point) table.Cell {
	return table.Cell{Text: strings.Join([]string{v.res.Run.Name, p.Phase, p.ID}, " · "), Class: "wrap"}
}

func recordingCell(p result.Point) table.Cell {
	if p.Recording == nil {
		return table.Cell{Text: figure.None}
	}
	return table.Cell{Text: figure.Short(p.Recording.SHA256, 12), Title: p.Recording.Path + " " + p.Recording.SHA256, Class: "mono"}
}

func stateCell(s result.PointState) table.Cell {
	return table.Cell{Text: point.StateText(string(s)), Class: string(s)}
}

func reasonsCell(p result.Point) table.Cell {
	if len(p.Reasons) == 0 {
		return table.Cell{Text: figure.None}
	}
	var texts, evidence []string
	for _, r := range p.Reasons {
		texts = append(texts, r.Text)
		evidence = append(evidence, strings.TrimSpace(r.Code+" "+r.Evidence))
	}
	return table.Cell{Text: strings.Join(texts, "; "), Title: strings.Join(evidence, "; "), Class: "wrap"}
}

// headlineRows are the figures of a population, with the latency of the one that has it.
func headlineRows(pop, latency point.Population) []row {
	m := metricsOf(pop)
	return []row{
		m("System tokens/s", "system_tps", "key", func(s *metrics.Summary) *float64 { return s.SystemTPS }, figure.Measure),
		m("Tokens/s per user", "tps_per_user", "key", func(s *metrics.Summary) *float64 { return s.TPSPerUser }, figure.Measure),
		m("Prompt tokens/s", "prompt_tps", "optional", func(s *metrics.Summary) *float64 { return s.PromptTPS }, figure.Measure),
		{Label: "TTFT P90, ms", Metric: "ttft_ms", Class: "key", Cell: func(p result.Point) table.Cell { return statCell(latency(p), point.TTFT, point.P90()) }},
		m("Utilization, %", "utilization", "", func(s *metrics.Summary) *float64 { return s.Utilization }, figure.Tenth),
	}
}

func volumeRows(pop point.Population) []row {
	m := metricsOf(pop)
	return []row{
		{Label: "Throughput and volume", Class: "group"},
		m("QPS, 1/s", "qps", "", func(s *metrics.Summary) *float64 { return s.QPS }, figure.Myriad),
		m("Total output tokens", "output_tokens", "", func(s *metrics.Summary) *float64 { return long(s.OutputTokens) }, figure.Whole),
		m("Average output tokens", "avg_output_tokens", "", func(s *metrics.Summary) *float64 { return s.AvgOutputTokens }, figure.Hundred),
		m("Total input tokens", "input_tokens", "optional", func(s *metrics.Summary) *float64 { return long(s.InputTokens) }, figure.Whole),
		m("Average input tokens", "", "optional", averageInput, figure.Hundred),
		m("Cached input tokens", "cached_tokens", "optional", func(s *metrics.Summary) *float64 { return long(s.CachedTokens) }, figure.Whole),
		m("Prefix hit rate, %", "prefix_hit_rate", "optional", func(s *metrics.Summary) *float64 { return s.PrefixHitRate }, figure.Tenth),
		m("Run duration, s", "duration_s", "", func(s *metrics.Summary) *float64 { return &s.DurationS }, figure.Hundred),
		m("Total queries", "requests_completed", "", func(s *metrics.Summary) *float64 { return count(s.RequestsCompleted) }, figure.Whole),
		m("Total queries issued", "requests_issued", "", func(s *metrics.Summary) *float64 { return count(s.RequestsIssued) }, figure.Whole),
		m("Total queries failed", "requests_failed", "", func(s *metrics.Summary) *float64 { return count(s.RequestsFailed) }, figure.Whole),
		m("Queries cut off at drain", "censored", "", func(s *metrics.Summary) *float64 { return count(s.Censored) }, figure.Whole),
		m("Completed output tokens/s", "system_tps_completed", "optional", func(s *metrics.Summary) *float64 { return s.SystemTPSCompleted }, figure.Measure),
		m("Input + output tokens/s", "total_tps", "optional", func(s *metrics.Summary) *float64 { return s.TotalTPS }, figure.Measure),
		m("Tokens/s per user, 1000 / TPOT", "tps_per_user_tpot", "optional", func(s *metrics.Summary) *float64 { return s.TPSPerUserTPOT }, figure.Measure),
		m("Tokens/s per request", "tps_per_request", "optional", func(s *metrics.Summary) *float64 { return s.TPSPerRequest }, figure.Measure),
		m("Tokens/s per decode node", "tps_per_node", "optional", func(s *metrics.Summary) *float64 { return s.TPSPerNode }, figure.Measure),
		m("Requests in flight, mean", "active_mean", "optional", func(s *metrics.Summary) *float64 { return s.ActiveMean }, figure.Measure),
	}
}

// averageInput is the mean prompt of the requests that finished.
func averageInput(s *metrics.Summary) *float64 {
	if s.InputTokens == nil || s.RequestsCompleted == 0 {
		return nil
	}
	v := float64(*s.InputTokens) / float64(s.RequestsCompleted)
	return &v
}

func latencyRows(pop point.Population) []row {
	var rows []row
	for _, b := range point.Blocks() {
		rows = append(rows, row{Label: b.Name, Metric: b.ID, Class: "group"})
		class := "optional"
		if b.Required {
			class = ""
		}
		for _, st := range point.Statistics() {
			rows = append(rows, row{Label: st.Name, Class: class, Cell: func(p result.Point) table.Cell { return statCell(pop(p), b.Of, st) }})
		}
	}
	return rows
}

// statCell is one statistic of a point. One that has too few samples is muted, and says so.
func statCell(s *metrics.Summary, of func(*metrics.Summary) *metrics.Distribution, st point.Statistic) table.Cell {
	if s == nil || of(s) == nil {
		return table.Cell{Text: figure.None}
	}
	d := of(s)
	c := table.Cell{Text: figure.Measure(st.Of(*d))}
	if d.N < st.Needs {
		c.Class, c.Title = "mute", fmt.Sprintf("of %s only; %s needs %d", figure.Plural(int(d.N), "sample"), st.Name, st.Needs)
	}
	return c
}

// enginePrefixCell is what the engine says of its prefix cache over the whole point, warm-up too.
func enginePrefixCell(p result.Point) table.Cell {
	if p.Engine == nil {
		return table.Cell{Text: figure.None}
	}
	return number(p.Engine.PrefixHitRate, figure.Tenth)
}

// metricsOf makes rows of a population.
func metricsOf(pop point.Population) func(label, id, class string, get func(*metrics.Summary) *float64, form func(float64) string) row {
	return func(label, id, class string, get func(*metrics.Summary) *float64, form func(float64) string) row {
		return metricRow(pop, label, id, class, get, form)
	}
}

func metricRow(pop point.Population, label, id, class string, get func(*metrics.Summary) *float64, form func(float64) string) row {
	return row{Label: label, Metric: id, Class: class, Cell: func(p result.Point) table.Cell {
		s := pop(p)
		if s == nil {
			return table.Cell{Text: figure.None}
		}
		return number(get(s), form)
	}}
}

func number(v *float64, form func(float64) string) table.Cell {
	if v == nil {
		return table.Cell{Text: figure.None}
	}
	return table.Cell{Text: form(*v)}
}

func text(s string) table.Cell {
	if s == "" {
		return table.Cell{Text: figure.None}
	}
	return table.Cell{Text: s}
}

func intValue(n *int) *float64 {
	if n == nil {
		return nil
	}
	return count(*n)
}

func long(n *int64) *float64 {
	if n == nil {
		return nil
	}
	v := float64(*n)
	return &v
}

func count(n int) *float64 {
	v := float64(n)
	return &v
}

// outcomeRows counts how the requests of each point ended; outcomes that no point has are left out.
func (v view) outcomeRows() []row {
	var rows []row
	for _, name := range point.Outcomes(v.res.Points, point.InWindow) {
		rows = append(rows, row{Label: name, Title: ending(name), Cell: func(p result.Point) table.Cell { return outcomeCell(p, name) }})
	}
	return rows
}

// ending says what an outcome means; "" for one that is not known.
func ending(outcome string) string {
	for _, o := range metrics.Outcomes() {
		if string(o.Outcome) == outcome {
			return strings.ReplaceAll(o.Text, "`", "")
		}
	}
	return ""
}

func outcomeCell(p result.Point, name string) table.Cell {
	if p.Metrics == nil {
		return table.Cell{Text: figure.None}
	}
	n := p.Metrics.Outcomes[name]
	c := table.Cell{Text: figure.Whole(float64(n))}
	if n > 0 && name != "ok" {
		c.Class = "fail"
		c.Title = fmt.Sprintf("%.2f %% of %d issued", 100*float64(n)/float64(max(p.Metrics.RequestsIssued, 1)), p.Metrics.RequestsIssued)
	}
	return c
}

// clientRows are the client's own health: the proof that it was not the bottleneck.
func (v view) clientRows() []row {
	var rows []row
	for _, f := range point.ClientFigures() {
		rows = append(rows, row{Label: f.Label, Class: "optional", Cell: func(p result.Point) table.Cell {
			if p.Client == nil {
				return table.Cell{Text: figure.None}
			}
			return text(f.ForPeople(*p.Client))
		}})
	}
	return v.shown(append(rows, row{Label: "Noticed", Cell: noticedCell}))
}

func noticedCell(p result.Point) table.Cell {
	if len(p.Notes) == 0 {
		return table.Cell{Text: figure.None}
	}
	return table.Cell{Text: strings.Join(p.Notes, "; "), Class: "wrap"}
}

// clientLines are the figures by which the client is judged and what else may have disturbed it, a line per measured point under a heading, for text formats; nil without one.
func (v view) clientLines() [][]string {
	judged := slices.DeleteFunc(point.ClientFigures(), func(f point.ClientFigure) bool { return f.Brief == "" })
	var lines [][]string
	for _, p := range v.res.Points {
		if p.Client == nil {
			continue
		}
		line := []string{point.Label(p)}
		for _, f := range judged {
			line = append(line, f.ForPeople(*p.Client))
		}
		lines = append(lines, line)
	}
	if lines == nil {
		return nil
	}
	head := []string{"point"}
	for _, f := range judged {
		head = append(head, f.Brief)
	}
	return append([][]string{head}, lines...)
}
