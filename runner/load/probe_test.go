package load

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/runner/load/stream"
	"assay/runner/record"
)

// picky is a server that refuses bodies with certain fields, in one of the ways of real ones.
type picky struct {
	refuses []string // dotted names
	says    func(refused []string) string
	status  int
	asked   int
}

func (p *picky) send(_ context.Context, c *stream.Call) (record.Request, string) {
	p.asked++
	r := stream.Blank(c)
	r.Outcome = record.OK
	var body map[string]any
	if err := json.Unmarshal(c.Body.With(""), &body); err != nil {
		r.Outcome = record.BadResponse
		return r, ""
	}
	var found []string
	for _, f := range p.refuses {
		at, inner, nested := strings.Cut(f, ".")
		v, there := body[at]
		if object, _ := v.(map[string]any); nested {
			_, there = object[inner]
		}
		if there {
			found = append(found, f)
		}
	}
	if len(found) > 0 || slices.Contains(p.refuses, "everything") {
		r.Outcome, r.Status, r.Error = record.HTTPStatus, p.status, "HTTP 400: "+p.says(found)
	}
	return r, ""
}

func silent([]string) string { return "Bad Request" }
func naming(fields []string) string {
	return "extra fields not permitted: " + strings.Join(fields, "; ")
}

// TestProbeFindsWhatIsRefused: each set of refused fields is found, with the server's words, in few requests.
func TestProbeFindsWhatIsRefused(t *testing.T) {
	const usage, counts, eos, fewest = "stream_options", "stream_options.continuous_usage_stats", "ignore_eos", "min_tokens"
	cases := []struct {
		name    string
		dialect string
		says    func([]string) string
		status  int
		refuses []string
		want    []string
		most    int
	}{
		{"nothing", "vllm", silent, 400, nil, nil, 1},
		{"one, by name", "vllm", naming, 400, []string{counts}, []string{counts}, 2},
		{"two, by name", "vllm", naming, 422, []string{eos, counts}, []string{counts, eos}, 2},
		{"the object of a field, by name", "vllm", naming, 400, []string{usage, fewest}, []string{usage, fewest}, 2},
		{"one, without a word", "vllm", silent, 400, []string{counts}, []string{counts}, 6},
		{"the last one, without a word", "vllm", silent, 400, []string{fewest}, []string{fewest}, 6},
		{"two of either half, without a word", "vllm", silent, 400, []string{counts, fewest}, []string{counts, fewest}, 8},
		{"all, without a word", "vllm", silent, 400, []string{usage, eos, fewest}, []string{usage, eos, fewest}, 8},
		{"a name that is beside the point", "vllm", func([]string) string { return "ignore_eos is fine" }, 400, []string{fewest}, []string{fewest}, 7},
		{"the old name of a limit", "openai", func([]string) string {
			return "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
		}, 400,
			[]string{"max_tokens"}, []string{"max_tokens"}, 2},
		{"something else", "vllm", naming, 400, []string{"everything"}, nil, 2},
		{"something else with a name in it", "vllm", func([]string) string { return "min_tokens" }, 400, []string{"everything"}, nil, 3},
		{"an error of the server", "vllm", naming, 500, []string{counts}, nil, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var kept []record.Request
			l := newLoad(Config{Clock: NewClock(), Request: Request{Endpoint: "chat", Model: "m", Dialect: c.dialect, MaxTokens: 9, IgnoreEOS: true}},
				func(r record.Request) error { kept = append(kept, r); return nil }, func(Progress) {})
			s := &picky{refuses: c.refuses, says: c.says, status: c.status}
			p := prober{load: l, send: s.send}
			var got []string
			for _, r := range p.refused(t.Context()) {
				got = append(got, r.Field)
				if !strings.HasPrefix(r.Said, "HTTP 400: ") {
					t.Errorf("%s: the server said %q", r.Field, r.Said)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" || p.err != nil {
				t.Errorf("%s, %v", diff, p.err)
			}
			if s.asked > c.most || len(kept) != s.asked || !kept[0].Warmup {
				t.Errorf("%d requests, at most %d wanted; %d kept", s.asked, c.most, len(kept))
			}
		})
	}
}
