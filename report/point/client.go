package point

import (
	"strings"

	"assay/report/figure"
	"assay/runner/metrics"
)

// ClientFigure is a figure that a client tells of itself.
type ClientFigure struct {
	ID    string // with its unit, for programs
	Label string // for people
	Brief string // its heading among those that stand in texts; "" for the others
	word  func(c metrics.Client) string
	value func(c metrics.Client) *float64 // nil when it is not known; unused with word
	form  func(float64) string
}

// ForPeople writes the figure as a report shows it.
func (f ClientFigure) ForPeople(c metrics.Client) string {
	if f.word != nil {
		return f.word(c)
	}
	if v := f.value(c); v != nil {
		return f.form(*v)
	}
	return figure.None
}

// ForPrograms writes the figure with all its digits; "" when it is not known.
func (f ClientFigure) ForPrograms(c metrics.Client) string {
	if f.word != nil {
		return f.word(c)
	}
	if v := f.value(c); v != nil {
		return figure.Plain(*v)
	}
	return ""
}

func (f ClientFigure) briefly(heading string) ClientFigure {
	f.Brief = heading
	return f
}

// ClientFigures lists them: first where its numbers come from and how it kept up, then what it used.
func ClientFigures() []ClientFigure {
	count := func(id, label string, of func(metrics.Client) int64) ClientFigure {
		return ClientFigure{ID: id, Label: label, form: figure.Whole, value: func(c metrics.Client) *float64 { v := float64(of(c)); return &v }}
	}
	known := func(id, label string, form func(float64) string, of func(metrics.Client) float64) ClientFigure { // 0: not known
		return ClientFigure{ID: id, Label: label, form: form, value: func(c metrics.Client) *float64 { return unlessZero(of(c)) }}
	}
	figures := []ClientFigure{
		{ID: "stamp_source", Label: "Receive stamps from", Brief: "stamps", word: func(c metrics.Client) string { return c.StampSource }},
		{ID: "token_source", Label: "Token counts from", word: func(c metrics.Client) string { return c.TokenSource }},
	}
	figures = append(figures, lags("lag", "Lag", func(c metrics.Client) metrics.Lag { return c.LagUS })...)
	figures = append(figures, lags("refill", "Refill", func(c metrics.Client) metrics.Lag { return c.RefillUS })...)
	figures = append(figures, ClientFigure{ID: "idle [%]", Label: "Slots left idle, %", Brief: "idle %", form: figure.Hundred, value: idlePercent})
	figures = append(figures, lags("stamp_delay", "Read delay", func(c metrics.Client) metrics.Lag { return c.StampDelayUS })...)
	figures = append(figures,
		count("events", "Token events", func(c metrics.Client) int64 { return c.Events }),
		count("shared_reads", "Events in a shared read", func(c metrics.Client) int64 { return c.SharedReads }),
		ClientFigure{ID: "shared [%]", Label: "Events in a shared read, %", Brief: "shared %", form: figure.Hundred, value: sharedPercent},
		known("cpu [s]", "CPU time, s", figure.Measure, func(c metrics.Client) float64 { return c.CPUS }),
		ClientFigure{ID: "cpu [%]", Label: "CPU, % of what it may use", Brief: "CPU %", form: figure.Tenth,
			value: func(c metrics.Client) *float64 { return unlessZero(100 * c.CPUShare) }},
		known("cpu_wait [s]", "CPU waited for, s", figure.Measure, func(c metrics.Client) float64 { return c.CPUWaitS }),
		known("gomaxprocs", "CPUs it may use", figure.Whole, func(c metrics.Client) float64 { return float64(c.GOMAXPROCS) }),
	)
	figures = append(figures, lags("sched_latency", "Scheduler latency", func(c metrics.Client) metrics.Lag { return c.SchedLatencyUS })...)
	return append(figures,
		known("gc_pause [us]", "Garbage collector pauses, µs", figure.Measure, func(c metrics.Client) float64 { return c.GCPauseUS }),
		known("gc_pause.max [us]", "Longest of them, µs", figure.Measure, func(c metrics.Client) float64 { return c.GCPauseMaxUS }).briefly("gc max µs"),
		ClientFigure{ID: "rss [B]", Label: "Memory (RSS)", form: func(v float64) string { return figure.Size(int64(v)) },
			value: func(c metrics.Client) *float64 { v := float64(c.RSSBytes); return &v }},
		known("reads", "Reads", figure.Whole, func(c metrics.Client) float64 { return float64(c.Reads) }),
		known("bytes_in [B]", "Bytes received", figure.Whole, func(c metrics.Client) float64 { return float64(c.BytesIn) }),
		known("sockets.opened", "Connections opened", figure.Whole, func(c metrics.Client) float64 { return float64(c.Sockets.Opened) }),
		known("sockets.at_once", "Connections at once", figure.Whole, func(c metrics.Client) float64 { return float64(c.Sockets.AtOnce) }).briefly("sockets"),
		ClientFigure{ID: "sockets.reused", Label: "Requests on a used connection", form: figure.Whole, value: reused},
		known("files", "Open files", figure.Whole, func(c metrics.Client) float64 { return float64(c.Sockets.Files) }),
		count("retries", "Retries", func(c metrics.Client) int64 { return int64(c.Retries) }),
		count("clock_steps", "Clock steps", func(c metrics.Client) int64 { return int64(c.ClockSteps) }).briefly("clock steps"),
	)
}

// lags are the figures of one of the client's delays. One that has no sample is zero as a whole.
func lags(id, label string, of func(metrics.Client) metrics.Lag) []ClientFigure {
	one := func(id, label string, pick func(metrics.Lag) float64) ClientFigure {
		return ClientFigure{ID: id, Label: label, form: figure.Measure, value: func(c metrics.Client) *float64 {
			lag := of(c)
			if lag == (metrics.Lag{}) {
				return nil
			}
			v := pick(lag)
			return &v
		}}
	}
	high := one(id+".p99 [us]", label+" P99, µs", func(l metrics.Lag) float64 { return l.P99 })
	if id != "sched_latency" {
		high.Brief = strings.ToLower(label) + " p99 µs"
	}
	return []ClientFigure{
		one(id+".p50 [us]", label+" P50, µs", func(l metrics.Lag) float64 { return l.P50 }), high,
		one(id+".max [us]", label+" maximum, µs", func(l metrics.Lag) float64 { return l.Max }),
	}
}

func unlessZero(v float64) *float64 {
	if v == 0 {
		return nil
	}
	return &v
}

func idlePercent(c metrics.Client) *float64 {
	if c.IdleShare == nil {
		return nil
	}
	v := 100 * *c.IdleShare
	return &v
}

func sharedPercent(c metrics.Client) *float64 {
	if c.Events == 0 {
		return nil
	}
	v := 100 * c.SharedShare()
	return &v
}

// reused is not known of a client that does not tell of its connections.
func reused(c metrics.Client) *float64 {
	if c.Sockets.Opened == 0 {
		return nil
	}
	v := float64(c.Sockets.Reused)
	return &v
}
