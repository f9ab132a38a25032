package engine

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/containers/enginetest"
	"assay/runner/load/dialect"
)

// TestDocs: docs/engines.md holds what the lists of presets and dialects say.
func TestDocs(t *testing.T) {
	var doc bytes.Buffer
	part := func(name string) {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		doc.Write(b)
	}
	part("engines.head.md")
	dialectTable(&doc)
	doc.WriteString("\n## How servers are started and asked\n\n")
	presetTable(&doc)
	part("engines.ready.md")
	signatureTable(&doc)
	doc.WriteString("\n## Metrics\n\n")
	metricTable(&doc)
	part("engines.tail.md")
	enginetest.Golden(t, "../../../docs/engines.md", doc.Bytes())
}

func dialectTable(doc *bytes.Buffer) {
	doc.WriteString("| engine | usage | counts | exact length | fewest tokens | prompt of ids |\n|---|---|---|---|---|---|\n")
	for _, d := range dialect.Dialects() {
		ids := ""
		if d.TokenIDs {
			ids = "yes"
		}
		usage := d.Usage
		if usage != "" {
			usage += ".include_usage"
		}
		fmt.Fprintf(doc, "| %s | %s | %s | %s | %s | %s |\n", d.Engine, code(usage), code(d.Counts), code(d.IgnoreEOS), code(d.MinTokens), ids)
	}
}

func presetTable(doc *bytes.Buffer) {
	doc.WriteString("| engine | program | is told the address by | model | served name | ready | metrics |\n|---|---|---|---|---|---|---|\n")
	for _, p := range Presets() {
		address := code(strings.TrimSpace(first(p.Flags.Host) + " " + first(p.Flags.Port)))
		if p.Flags.AddressEnv != "" {
			address = "variable " + code(p.Flags.AddressEnv)
		}
		model := code(first(p.Flags.Model))
		if len(p.Flags.Positional) > 0 {
			model = "first argument"
		}
		fmt.Fprintf(doc, "| %s | %s | %s | %s | %s | %s | %s |\n", p.Name, code(strings.Join(p.Program("assay"), " ")), address, model, code(first(p.Flags.Served)),
			code(p.HealthPath), code(p.MetricsPath))
	}
}

func signatureTable(doc *bytes.Buffer) {
	doc.WriteString("| code | a line of the log with | what to do |\n|---|---|---|\n")
	for _, s := range Signatures() {
		var texts []string
		for _, text := range s.Any {
			texts = append(texts, code(text))
		}
		does := s.Hint
		if s.Wrapper {
			does += "; counts only where no line names a cause"
		}
		fmt.Fprintf(doc, "| `server.%s` | %s | %s |\n", s.Code, strings.Join(texts, ", "), does)
	}
}

func metricTable(doc *bytes.Buffer) {
	var head, line []string
	for _, p := range Presets() {
		if p.MetricsPath != "" && p.Name != "sim" && p.Name != "openai" {
			head, line = append(head, p.Name), append(line, "---")
		}
	}
	fmt.Fprintf(doc, "`sim` has the metrics of vllm; `openai` reads those of whichever engine it finds; the names here are those of the telemetry series `engine.…`.\n\n| | %s |\n|---|%s|\n", strings.Join(head, " | "), strings.Join(line, "|"))
	for _, name := range []string{"running", "waiting", "kv_usage", "prompt_tokens", "generation_tokens", "prefix_queries", "prefix_hits", "preemptions"} {
		cells := []string{name}
		for _, engine := range head {
			p, _ := PresetNamed(engine)
			cells = append(cells, spelled(p.Metrics[name]))
		}
		fmt.Fprintf(doc, "| %s |\n", strings.Join(cells, " | "))
	}
}

// spelled is how a server spells a metric; the first of several spellings is that of newer versions.
func spelled(all []Series) string {
	if len(all) == 0 {
		return ""
	}
	return "`" + strings.Join(all[0], "` + `") + "`"
}

func first(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// TestDialectsArePresets: both lists have the same engines.
func TestDialectsArePresets(t *testing.T) {
	var presets, dialects []string
	for _, p := range Presets() {
		presets = append(presets, p.Name)
	}
	for _, d := range dialect.Dialects() {
		dialects = append(dialects, d.Engine)
	}
	if !slices.Equal(presets, dialects) {
		t.Errorf("presets %v, dialects %v", presets, dialects)
	}
}
