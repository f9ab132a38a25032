package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/fault"
	"assay/probes"
	"assay/runner/metrics"
)

// Encode writes the document in its one byte form: keys in the order of the types, those of maps sorted, two spaces deep, texts
// not escaped for HTML, lists never null, a newline at the end. The same result gives the same bytes.
func Encode(r Result) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(whole(r)); err != nil {
		return nil, fmt.Errorf("write result of run %s: %w", r.Run.ID, err)
	}
	return b.Bytes(), nil
}

// Decode reads a document of this or an older version. Keys it does not know are skipped: they may come with any release.
func Decode(b []byte) (Result, error) {
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return Result{}, bad("read result: %w", err)
	}
	if err := checkSchema(head.Schema); err != nil {
		return Result{}, err
	}
	var r Result
	if err := json.Unmarshal(b, &r); err != nil {
		return Result{}, bad("read result: %w", err)
	}
	return whole(r), nil
}

func bad(format string, args ...any) error {
	return fault.New(fault.Store, "bad_result", "give it the result.json of a run, as it was written", format, args...)
}

func checkSchema(schema string) error {
	if schema == Schema {
		return nil
	}
	version, ok := strings.CutPrefix(schema, "assay.result/v")
	if n, err := strconv.Atoi(version); ok && err == nil && n > 1 {
		return fault.New(fault.Store, "newer_result", "use a newer assay", "the result has schema %s, this program reads up to %s", schema, Schema)
	}
	return bad("schema %q is not that of a result (%s)", schema, Schema)
}

// whole gives r with its nil lists made empty; r itself is not touched.
func whole(r Result) Result {
	r.Run.Reasons = list(r.Run.Reasons)
	r.Run.Phases = list(r.Run.Phases)
	r.SUT.Drift = list(r.SUT.Drift)
	r.Artifacts = list(r.Artifacts)
	r.Checks = each(r.Checks, func(c *probes.Check) { c.Evidence = list(c.Evidence) })
	r.Points = each(r.Points, func(p *Point) {
		p.Reasons = list(p.Reasons)
		p.Metrics, p.MLPerf, p.Inside, p.Cell = counted(p.Metrics), counted(p.MLPerf), counted(p.Inside), counted(p.Cell)
	})
	return r
}

func counted(s *metrics.Summary) *metrics.Summary {
	if s == nil || s.Outcomes != nil {
		return s
	}
	copied := *s
	copied.Outcomes = map[string]int{}
	return &copied
}

func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// each gives a copy of l, never nil, with every element changed.
func each[T any](l []T, change func(*T)) []T {
	l = list(slices.Clone(l))
	for i := range l {
		change(&l[i])
	}
	return l
}
