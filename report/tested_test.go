package report

import (
	"encoding/json"
	"strings"
	"testing"

	"assay/report/figure"
	"assay/report/machine"
	"assay/result"
)

// summaryOf gives the texts of a page's SUT summary by their labels.
func summaryOf(in Input) map[string]string {
	out := map[string]string{}
	for _, c := range newPage(in).SUT {
		for _, l := range c.Lines {
			out[l.Label] = l.Text()
		}
	}
	return out
}

// Every field of a published SUT summary stands there: with a value, or with the reason why it has none.
func TestSUTSummaryIsWhole(t *testing.T) {
	for _, in := range inputs(t) {
		if in.Result.SUT.Before == nil {
			continue
		}
		lines := summaryOf(in.Input)
		for _, label := range []string{"Division", "Deployment", "Availability", "System category", "Max supported concurrency", "Node count", "Framework", "Container image", "Operating system", "File systems",
			"Other software", "Software notes", "System", "Processors", "Cores", "Accelerators", "Memory", "Memory configuration", "Storage", "Engine", "Version", "Quantization", "Backend", "Build", "Commit", "Model", "Model precision", "Model link", "Calibration link", "Dataset", "Dataset type", "Average input tokens", "Dataset link", "Network", "Network topology", "Other hardware", "Cooling", "Hardware notes"} {
			text, ok := lines[label]
			if !ok || text == "" {
				t.Errorf("%s: no line %q", in.Name, label)
			}
			if strings.HasSuffix(text, ": ") {
				t.Errorf("%s: %s has neither value nor reason: %q", in.Name, label, text)
			}
		}
	}
}

func TestSUTSummaryFromTheRun(t *testing.T) {
	want := map[string]map[string]string{
		"sweep": {
			"Max supported concurrency": "512", "Node count": "1", "Deployment": "on premises, client and server on the same node", "Framework": "vllm 0.31.1rc1+5555a2d8f",
			"Other software": "Docker 29.2.1, containerd 2.2.0, nginx 1.27.5 65645c7bb6a0, haproxy e3229153dd64, native client 0.1.0",
			"Cooling":        "— not probed: how heat leaves the machine does not show from inside it", "Software notes": "— not probed: free text; the run noted nothing",
		},
		"not_valid": {"Max supported concurrency": "384", "Software notes": "image not pinned: vllm/vllm-openai-rocm:nightly"},
		"serve":     {"Max supported concurrency": "— not probed: no point of this run sets a concurrency"},
		"matrix":    {"Max supported concurrency": "128"},
		"tiny":      {"Container image": "— not probed: the server ran without a container, or was not started by this run", "Other software": "native client dev", "Server program": "assay sim"},
	}
	for name, lines := range want {
		got := summaryOf(inputNamed(t, name))
		for label, text := range lines {
			if got[label] != text {
				t.Errorf("%s: %s = %q, want %q", name, label, got[label], text)
			}
		}
	}
}

// An endpoint that somebody else started tells nothing of where it stands; a point that is not valid supports no concurrency.
func TestSUTSummaryOfAnEndpoint(t *testing.T) {
	in := tinyInput()
	in.Result.Plan = json.RawMessage(`{"server":{"engine":"vllm","runtime":"endpoint","url":"http://127.0.0.1:8000"}}`)
	in.Result.Identity.Server = json.RawMessage(`{"runtime":"endpoint","name":"http://127.0.0.1:8000"}`)
	in.Result.Identity.Routers = []json.RawMessage{json.RawMessage(`{"runtime":"endpoint","name":"http://127.0.0.1:8000"}`), json.RawMessage(`{"runtime":"process","argv":["/usr/sbin/nginx","-c","x"],"binary_sha256":"0123456789abcdef"}`)}
	in.Result.Points[0].State = result.PointNotValid
	got := summaryOf(in)
	for label, text := range map[string]string{
		"Deployment": "— not probed: the endpoint was already running, and does not tell where", "Max supported concurrency": "— not probed: no point is valid",
		"Other software": "nginx 0123456789ab, native client dev", "Server program": "— not probed: the server was already running, or never came to run",
	} {
		if got[label] != text {
			t.Errorf("%s = %q, want %q", label, got[label], text)
		}
	}
}

// Over the issue-to-drain time each point has its share of the highest there, and the document given stays as it was.
func TestUtilizationOfTheDrain(t *testing.T) {
	in := inputNamed(t, "sweep")
	var row string
	for _, r := range newPage(in).Drain.Rows {
		if r.Label == "Utilization, %" {
			for _, c := range r.Cells {
				row += c.Text + " "
			}
		}
	}
	if row != "42.7 47.7 59.1 75.2 94.0 100.0 99.8 " {
		t.Errorf("utilization %q", row)
	}
	for _, p := range in.Result.Points {
		if p.MLPerf.Utilization != nil {
			t.Errorf("%s: the document was changed", p.ID)
		}
	}
}

func TestArchiveURI(t *testing.T) {
	for _, unpacked := range []bool{false, true} {
		in := inputNamed(t, "tiny")
		in.Unpacked = unpacked
		want := map[bool]string{false: result.ArchiveName, true: figure.None + " not packed"}[unpacked]
		for _, r := range newPage(in).Data.Rows {
			if r.Label == "Archive URI" && r.Cells[0].Text != want {
				t.Errorf("archive URI %q, want %q", r.Cells[0].Text, want)
			}
		}
	}
}

// The sheets of a wide table hold all its columns once, in order, none more than fits; a table that fits has none.
func TestSheets(t *testing.T) {
	for n, want := range map[int]string{1: "", 7: "", 8: "4 4", 9: "5 4", 13: "7 6", 14: "7 7", 16: "6 6 4", 27: "7 7 7 6", 30: "6 6 6 6 6"} {
		v := sweepOf(n)
		g := v.grid(v.runRows(), true)
		var sizes, heads []string
		for _, s := range g.Sheets() {
			sizes = append(sizes, figure.Plain(float64(len(s.Head))))
			for _, h := range s.Head {
				heads = append(heads, h.Text)
			}
			if len(s.Rows) != len(g.Rows) || s.Rows[1].Cells[0].Text != heads[len(heads)-len(s.Head)][1:] {
				t.Errorf("%d columns: a sheet begins with %s and its row %+v", n, s.Head[0].Text, s.Rows[1])
			}
		}
		if got := strings.Join(sizes, " "); got != want {
			t.Errorf("%d columns: sheets of %q, want %q", n, got, want)
		}
		if want != "" && (len(heads) != n || heads[n-1] != "C"+figure.Plain(float64(n))) {
			t.Errorf("%d columns: heads %v", n, heads)
		}
	}
	if (machine.Line{NotProbed: "x"}).Text() != "— not probed: x" {
		t.Error("a line without a probe does not say so")
	}
}
