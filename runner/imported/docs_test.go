package imported

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// rowsOf are the rows of a tool's table in docs/clients.md: metric by figure.
func rowsOf(t *testing.T, page, format string) map[string]string {
	t.Helper()
	_, section, ok := strings.Cut(page, "\n### "+strings.TrimSuffix(format, "-log")+"\n")
	if !ok {
		t.Fatalf("docs/clients.md has no section %s", format)
	}
	section, _, _ = strings.Cut(section, "\n##")
	name, rows := regexp.MustCompile("`([^`]+)`"), map[string]string{}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		metrics := name.FindAllStringSubmatch(cells[2], -1)
		for i, m := range name.FindAllStringSubmatch(cells[1], -1) {
			rows[m[1]] = ""
			if len(metrics) > 0 {
				rows[m[1]] = metrics[min(i, len(metrics)-1)][1]
			}
		}
	}
	return rows
}

// rowName is the name that a figure has in the table: without its statistic.
func rowName(format string, f Figure) string {
	switch {
	case f.Statistic == "" || f.Name == "ttft_seconds":
		return f.Name
	case strings.HasPrefix(format, "vllm"):
		_, rest, _ := strings.Cut(f.Name, "_")
		return "…_" + rest
	case format == "llm-inference-bench":
		return f.Name[:strings.LastIndex(f.Name, "_")]
	}
	base, _, _ := strings.Cut(f.Name, ".")
	return base
}

// TestPageListsEveryFigure: docs/clients.md has each figure with the metric that stands beside it.
func TestPageListsEveryFigure(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	paths := []string{"vllm-log.txt", "aiperf", "inference-perf", "guidellm.json", "llm-inference-bench.json", "mlperf/dead"}
	for i := range paths {
		paths[i] = testdata(paths[i])
	}
	for _, path := range paths {
		b := bring(t, path, "")
		rows := rowsOf(t, page, b.found.Format.Name)
		for _, p := range b.points {
			for _, f := range p.Imported.Figures {
				metric, ok := rows[rowName(b.found.Format.Name, f)]
				weighted := f.Metric == "" && f.Statistic == "mean" && strings.HasPrefix(f.Name, "inter_token_latency_ms")
				if !ok || metric != f.Metric && !weighted {
					t.Errorf("%s: figure %s has the metric %q, the page says %q (%v)", path, rowName(b.found.Format.Name, f), f.Metric, metric, ok)
				}
			}
		}
	}
	for _, name := range Formats() {
		if !strings.Contains(page, "| `"+name.Name+"` | ") {
			t.Errorf("the page does not say what --as %s reads", name.Name)
		}
	}
}
