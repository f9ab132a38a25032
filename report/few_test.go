package report

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"assay/report/figure"
	"assay/report/point"
	"assay/runner/metrics"
)

// A percentile says of how many samples it is where they are too few for it.
func TestFewSamplesAreMarked(t *testing.T) {
	cases := []struct {
		n     int64
		muted []string
	}{
		{9, []string{"P90", "P95", "P99", "P999"}},
		{10, []string{"P95", "P99", "P999"}},
		{99, []string{"P99", "P999"}},
		{100, []string{"P999"}},
		{1000, nil},
	}
	for _, c := range cases {
		var muted []string
		for _, st := range point.Statistics() {
			got := statCell(&metrics.Summary{TTFTMS: &metrics.Distribution{N: c.n}}, point.TTFT, st)
			if got.Class == "mute" && strings.Contains(got.Title, figure.Plural(int(c.n), "sample")) {
				muted = append(muted, st.Name)
			}
		}
		if strings.Join(muted, " ") != strings.Join(c.muted, " ") {
			t.Errorf("%d samples: %v are marked, want %v", c.n, muted, c.muted)
		}
	}
}

func TestTitleOfAnyModel(t *testing.T) {
	cases := []struct{ name, served, want string }{
		{"sim-1", "sim-1-served", "sim-1 on "},
		{"*", "SmolLM2", "SmolLM2 on "},
		{"*", "", "demo on "}, // it failed before a server told its model
		{"", "", "demo on "},
	}
	for _, c := range cases {
		in := tinyInput()
		in.Result.Identity.Model.Name, in.Result.Identity.Model.Served = c.name, c.served
		if got := newView(in.Result).title(); !strings.HasPrefix(got, c.want) {
			t.Errorf("name %q, served %q: title %q, want %q…", c.name, c.served, got, c.want)
		}
	}
}

// What the client does not know of itself stands as unknown, never as 0.
func TestClientsUnknownFigures(t *testing.T) {
	in := tinyInput()
	in.Result.Points[0].Client = &metrics.Client{StampSource: "user", TokenSource: "events", RSSBytes: 1 << 20}
	told := map[string]bool{"Receive stamps from": true, "Token counts from": true, "Token events": true, "Events in a shared read": true,
		"Memory (RSS)": true, "Retries": true, "Clock steps": true}
	shown := 0
	for _, r := range newView(in.Result).clientRows() {
		if got := r.Cell(in.Result.Points[0]).Text; told[r.Label] == (got == figure.None) && r.Label != "Noticed" {
			t.Errorf("%s is %q", r.Label, got)
		}
		shown++
	}
	if shown < len(told) {
		t.Errorf("%d rows of the client, at least %d were told", shown, len(told))
	}
	format, err := FormatNamed("csv")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(write(t, format, in))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	head, row, looked := lines[0], lines[1], 0
	for i, h := range head {
		if (strings.HasPrefix(h, "client.lag") || strings.HasPrefix(h, "client.cpu") || strings.HasPrefix(h, "client.idle")) && row[i] != "" {
			t.Errorf("csv column %s is %q", h, row[i])
		}
		if strings.HasPrefix(h, "client.") {
			looked++
		}
	}
	if looked < 5 {
		t.Errorf("only %d client columns in %v", looked, head)
	}
}
