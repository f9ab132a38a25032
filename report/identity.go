package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"assay/report/figure"
	"assay/report/launch"
	"assay/report/served"
	"assay/result"
)

// pair is a named value of the identity.
type pair struct{ Name, Value, Note string }

// identity is what was pinned and what was found; what was not pinned says so.
func (v view) identity() []pair {
	id, r := v.res.Identity, v.res.Run
	out := v.serverPairs()
	at := launch.RouterPoints(v.res)
	for i, raw := range id.Routers {
		var s served.Server
		if json.Unmarshal(raw, &s) != nil {
			continue
		}
		note := s.Runtime
		if s.Version != "" {
			note += ", version " + s.Version
		}
		if at[i] != "" {
			note += ", at " + at[i]
		}
		out = append(out, pair{Name: fmt.Sprintf("Router %d", i+1), Value: s.What(), Note: note})
	}
	out = append(append(out, modelPairs(id.Model)...), v.servedPairs()...)
	out = append(out,
		pair{"Dataset", strings.TrimSpace(id.Dataset.Kind + " " + id.Dataset.Path), ""},
		pair{"Dataset SHA-256", id.Dataset.SHA256, ""},
		pair{"Dataset seed", id.Dataset.Seed, ""},
		pair{"Salt", v.plan.Workload.Salt, ""},
	)
	out = append(out, v.protocolPairs()...)
	out = append(out,
		pair{"Client", strings.TrimSpace(id.Client.Kind + " " + id.Client.Version), ""},
		pair{"Plan SHA-256", r.PlanSHA256, "of the canonical form"},
		pair{"Program", fmt.Sprintf("assay %s, commit %s, %s", cmp.Or(r.Program.Version, figure.None), cmp.Or(r.Program.Commit, figure.None), cmp.Or(r.Program.Go, figure.None)), ""},
		pair{"Run", r.ID, r.Name},
	)
	return filled(out)
}

func (v view) serverPairs() []pair {
	s := v.server
	out := []pair{
		{"Server", v.engine(), cmp.Or(s.Runtime, v.plan.Server.Runtime)},
		{"Image", cmp.Or(s.Image, v.plan.Server.Image), ""},
		{"Image id", s.ImageID, ""},
		{"Program SHA-256", s.BinarySHA256, "of the server's program file"},
		{"Endpoint", cmp.Or(v.plan.Server.URL, strings.Join(v.plan.Server.URLs, ", ")), "already running; not started by this run"},
		{"Command line", strings.Join(s.Argv, " "), ""},
	}
	for i, each := range s.Servers {
		out = append(out, pair{fmt.Sprintf("Server %d", i+1), strings.TrimSpace(each.Name + " " + each.Version), strings.Join(each.Models, ", ")})
	}
	if s.MaxModelLen > 0 {
		out = append(out, pair{"Longest sequence", figure.Whole(float64(s.MaxModelLen)) + " tokens", "as the server says"})
	}
	if s.KVTokens > 0 {
		out = append(out, pair{"KV cache", figure.Whole(float64(s.KVTokens)) + " tokens", "as the server says"})
	}
	return out
}

// servedPairs are what is known of the engine and the model beside what was pinned.
func (v view) servedPairs() []pair {
	wanted := []string{"Quantization", "Backend", "Commit", "Model precision", "Average input tokens"}
	var out []pair
	for _, c := range v.served() {
		for _, l := range c.Lines {
			if slices.Contains(wanted, l.Label) {
				out = append(out, pair{l.Label, l.Value, l.Source})
			}
		}
	}
	return out
}

func modelPairs(m result.ModelIdentity) []pair {
	return []pair{
		{"Model", m.Name, ""},
		{"Served as", m.Served, listed(m)},
		{"Model revision", revision(m), ""},
		{"Model path", m.Path, ""},
		{"Model SHA-256", m.SHA256, ""},
	}
}

// revision says so when a model was not pinned; a run that never came to its model says nothing.
func revision(m result.ModelIdentity) string {
	if m.Revision == "" && m.SHA256 == "" && m.Name != "" {
		return "not pinned"
	}
	return m.Revision
}

// listed says which models the server lists, where that is not just the one asked for.
func listed(m result.ModelIdentity) string {
	if len(m.Listed) == 0 || len(m.Listed) == 1 && m.Listed[0] == m.Served {
		return ""
	}
	return "the server lists " + strings.Join(m.Listed, ", ")
}

func filled(pairs []pair) []pair {
	var out []pair
	for _, p := range pairs {
		if p.Value != "" {
			out = append(out, p)
		}
	}
	return out
}

// stage is one phase of the timeline.
type stage struct {
	Name, Point, At, Length string
	X, Width                string // of 1000
	Error                   string
}

// permille is a length of time on a lane of 1000 units.
func permille(us int64, total float64) string { return fmt.Sprintf("%.1f", 1000*float64(us)/total) }

// timeline is the run's phases as they happened.
func (v view) timeline() []stage {
	r := v.res.Run
	first, last := r.StartedUS, r.EndedUS
	for _, p := range r.Phases {
		last = max(last, p.StartedUS, p.EndedUS)
	}
	total := float64(max(last-first, 1))
	var out []stage
	for _, p := range r.Phases {
		end := max(p.EndedUS, p.StartedUS)
		s := stage{Name: p.Name, Point: p.Point, At: "+" + figure.Span(max(p.StartedUS-first, 0)), Length: figure.Span(end - p.StartedUS)}
		if p.EndedUS == 0 {
			s.Length = "not ended"
		}
		s.X, s.Width = permille(p.StartedUS-first, total), permille(max(end-p.StartedUS, int64(total/400)), total)
		if p.Error != nil {
			s.Error = p.Error.Error()
		}
		out = append(out, s)
	}
	return out
}
