package metrics

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/metrics.md")

const docPath = "../../docs/metrics.md"

const intro = `<!-- Made from runner/metrics/table.go: go test ./runner/metrics -update -->
# Metrics

Every figure of a point is a pure function of its recording and its window: the same recording gives the same figures for ever.
A figure that is not known is absent; 0 is a value. Requests of the warm-up are in none.

## Words

- **Sent** is the instant before the request's first byte is handed to the kernel on an open connection.
- A **token event** is a chunk with text, reasoning or a tool call's part. **Finished** is the last token event; an ok request
  without any counts as finished at its end, and enters no latency.
- The **tokens of an event** are the growth of the continuous usage where the server offers it, else the number of its token ids,
  else an even share of the final usage, else one; ` + "`client.token_source`" + ` says which.
- The **window** holds its first instant and not its last. sweep: from the moment all slots are busy to the stop of issue;
  serve: the plan's window, without warm-up and cool-down; matrix: the cell's measured time.
- Only requests with the outcome ok enter a distribution. Requests sent inside the window are awaited after it up to the drain
  limit; those cut off are ` + "`censored`" + `: counted and listed.

## Distributions

` + "`min mean p1 p5 p10 p25 p50 p75 p90 p95 p99 p999 max n`" + `, in milliseconds, exact: all n samples count, none is binned or estimated. The percentile p of n ascending
samples is the value at rank (n − 1) · p / 100, counted from 0, by linear interpolation between the two closest samples.

## The figures

| id | unit | definition | made of |
|---|---|---|---|
`

const mlperfText = `
The ` + "`mlperf`" + ` object beside the metrics of a sweep's point holds the same figures over the whole time from the first measured request's
issue to the end of the drain: every measured request counts, and ` + "`system_tps`" + ` there is the output of the completed requests by that
time. As of any window its end is outside: ` + "`duration_s`" + ` ends a microsecond, the clock's step, after the last request. Its percentiles are made as
above; a submission's own files use the method of their rules.

The ` + "`inside`" + ` object beside the metrics of a serve point holds the same figures of the requests that were sent **and** finished inside the
window, and of nothing else: tokens, gaps and time in flight of other requests have no part. Clients that cut warm-up and cool-down by
whole requests print this population. It is a biased sample: when a request takes long against the window, only those sent early in it
can be inside, and slow ones are left out more often than fast ones. The figures of the whole window above have no such bias.

The ` + "`cell`" + ` object beside the metrics of a decode cell holds the same figures of every request that was under way inside the window: those sent
before it, and those that the cell's end cut off. A cell of 30 s with long replies has no others, and above nothing but throughput. Here
latencies of requests that were cut off count too, and ` + "`tpot_ms`" + ` and ` + "`tps_per_request`" + ` take every stream up to its last token event.

## Energy

` + "`energy.tokens_per_joule`" + ` of a point is system_tps · duration_s / accelerator_j: the output tokens whose events are inside the window, over the energy
that all accelerators of the machine used in it, idle ones too. What is counted is what each accelerator tells of itself, its package or its
board; processors, memory, fans and losses of the power supplies are not in it, and stand beside it where they can be read.

- A device's own **counter** of energy comes first. A hole of the samples costs nothing then, only a step in which the counter began anew does.
- Else the readings of its power are summed by **trapezoid**. Time between readings more than 3 s apart is not known.
- Every source is asked just before and just after the load, and the edges of the window lie between two samples: what a counter showed at an
  edge, and the power there, is taken from the straight line between them.
- At least 95 % of the window must be known; the little that is missing is taken to be as the rest, and ` + "`coverage`" + ` says how much that is. Below
  that there is no energy, and no figure made of it, but the reason. So it is when a reading stood still for half the window and 30 s or more while the device worked.
- Where there are both, they are held against each other: more than 3 % apart is a note of the point.

## Outcomes

| outcome | a request ends so when |
|---|---|
`

// document is docs/metrics.md as the tables make it.
func document() []byte {
	var b bytes.Buffer
	b.WriteString(intro)
	for _, d := range Table() {
		unit := d.Unit
		if unit == "" {
			unit = "–"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.ID, unit, d.Text, d.Population)
	}
	b.WriteString(mlperfText)
	for _, o := range Outcomes() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", o.Outcome, o.Text)
	}
	return b.Bytes()
}

func TestDocument(t *testing.T) {
	if *update {
		if err := os.WriteFile(docPath, document(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(docPath)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(document()), string(got)); diff != "" {
		t.Errorf("docs/metrics.md is old, run with -update (-want +got):\n%s", diff)
	}
}

func TestTableDefinesEachFieldInOrder(t *testing.T) {
	var fields, ids []string
	summary := reflect.TypeFor[Summary]()
	for i := range summary.NumField() {
		name, _, _ := strings.Cut(summary.Field(i).Tag.Get("json"), ",")
		fields = append(fields, name)
	}
	for _, d := range Table() {
		ids = append(ids, d.ID)
		if d.Text == "" || d.Population == "" {
			t.Errorf("%s says too little: %+v", d.ID, d)
		}
		if strings.HasSuffix(d.ID, "_ms") && d.Unit != "ms" || strings.Contains(d.ID, "tps") && d.Unit != "tok/s" {
			t.Errorf("%s has the unit %q", d.ID, d.Unit)
		}
	}
	if diff := cmp.Diff(fields, ids); diff != "" {
		t.Errorf("fields of Summary and ids of Table differ (-fields +ids):\n%s", diff)
	}
}
