package probes

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// factsPage is written from the comments of the SUT's fields and of the checks, and from the list of sources.
const factsPage = "../docs/probes.md"

// fact is a leaf of the SUT document.
type fact struct{ path, kind, meaning string }

// structs gives the struct types of probes/sut by name, with the comments of types and fields.
func structs(t *testing.T) (types map[string]*ast.StructType, docs map[string]string) {
	t.Helper()
	types, docs = map[string]*ast.StructType{}, map[string]string{}
	for _, tree := range parsed(t, "sut") {
		for _, d := range tree.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			spec := g.Specs[0].(*ast.TypeSpec)
			if s, ok := spec.Type.(*ast.StructType); ok && spec.TypeParams == nil {
				types[spec.Name.Name], docs[spec.Name.Name] = s, sentence(spec.Name.Name, g.Doc)
			}
		}
	}
	return types, docs
}

func parsed(t *testing.T, room string) map[string]*ast.File {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(room, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	trees := map[string]*ast.File{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		trees[name] = tree
	}
	return trees
}

// sentence makes running text of a comment that begins with the name of what it is about.
func sentence(name string, c *ast.CommentGroup) string {
	text := strings.Join(strings.Fields(c.Text()), " ")
	rest, found := strings.CutPrefix(text, name+" ")
	if !found || rest == "" {
		return text
	}
	for _, verb := range []string{"is ", "are "} {
		rest = strings.TrimPrefix(rest, verb)
	}
	return strings.ToUpper(rest[:1]) + rest[1:]
}

// leaves walks the type of a part of the SUT as its document is nested.
func leaves(types map[string]*ast.StructType, at, typ string) (list []fact) {
	for _, f := range types[typ].Fields.List {
		tag, _ := strconv.Unquote(f.Tag.Value)
		name := reflect.StructTag(tag).Get("json")
		path := strings.TrimPrefix(at+"."+name, ".")
		generic, inner := typeOf(f.Type)
		meaning := strings.Join(strings.Fields(f.Comment.Text()), " ")
		switch {
		case types[inner] != nil && generic == "List":
			list = append(list, leaves(types, path+"[]", inner)...)
		case types[inner] != nil:
			list = append(list, leaves(types, path, inner)...)
		case generic == "Fact":
			list = append(list, fact{path, inWords(inner, name), meaning})
		case generic == "List":
			list = append(list, fact{path, "list of " + inWords(inner, "") + "s", meaning})
		}
	}
	return list
}

// typeOf takes Fact[T] and List[T] apart.
func typeOf(e ast.Expr) (generic, inner string) {
	switch e := e.(type) {
	case *ast.IndexExpr:
		_, inner = typeOf(e.Index)
		return e.X.(*ast.Ident).Name, inner
	case *ast.ArrayType:
		_, inner = typeOf(e.Elt)
		return "", "[]" + inner
	case *ast.Ident:
		return "", e.Name
	}
	return "", ""
}

// inWords says a type, with the unit that the name carries.
func inWords(typ, name string) string {
	if of, isList := strings.CutPrefix(typ, "[]"); isList {
		return "list of " + inWords(of, "") + "s"
	}
	word := map[string]string{"string": "text", "bool": "yes or no", "int": "number", "int64": "number", "float64": "number"}[typ]
	for _, u := range [][2]string{
		{"_gbps", "Gb/s"}, {"_mbps", "Mb/s"}, {"_bytes", "bytes"}, {"bytes", "bytes"}, {"_mhz", "MHz"}, {"_mts", "MT/s"}, {"gts", "GT/s"}, {"width", "lanes"}, {"_pct", "%"}, {"_us", "µs"},
		{"_w", "W"}, {"_c", "°C"}, {"_s", "s"},
	} {
		if word == "number" && strings.HasSuffix(name, u[0]) {
			return u[1]
		}
	}
	return word
}

// sourcesFile lists the sources of each fact, in the order in which they are asked.
const sourcesFile = "testdata/sources.txt"

// sources reads the list: a path of the document on a line, below it a source a line, each with a tab before it.
func sources(t *testing.T) map[string][]string {
	t.Helper()
	b, err := os.ReadFile(sourcesFile)
	if err != nil {
		t.Fatal(err)
	}
	list, path := map[string][]string{}, ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if source, below := strings.CutPrefix(line, "\t"); below {
			list[path] = append(list[path], source)
			continue
		}
		path = line
		if _, twice := list[path]; twice {
			t.Errorf("%s stands twice in %s", path, sourcesFile)
		}
		list[path] = []string{}
	}
	return list
}

// general takes out of a source what is of one machine: addresses and numbers of devices.
func general(source string) string {
	for _, r := range [][2]string{
		{`/sys/class/drm/card\d+/device`, `/sys/bus/pci/devices/*`}, {`/sys/devices/pci[^ ,]*/`, `/sys/bus/pci/devices/*/`}, {`[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d`, `*`}, {`0x[0-9a-f]+`, `*`},
		{`/(class/net|class/block|block|class/infiniband|class/nvme)/[^/ ,:]+`, `/$1/*`}, {`(data sheet of) .*`, `$1 the product`}, {`(hwmon|cpu|node|policy|nodes/|ports/|proc/|kfd/proc/|mc|dimm|index|state|hugepages-|intel-rapl:|zone|gpu_id |vram_)\d+`, `$1*`},
		{`\d+ (partitions|compute dies|GPUs)`, `* $1`}, {`lists \d+`, `lists *`}, {`version \d+\.\d+`, `version *`}, {`renderD\d+`, `renderD*`}, {`(/etc/cdi|/var/run/cdi)/.*`, `$1`}, {`(/sys/fs/cgroup)/.*(/[a-z.]+)`, `$1/*$2`},
	} {
		source = regexp.MustCompile(r[0]).ReplaceAllString(source, r[1])
	}
	return source
}

// observed gives the sources of all facts of a SUT.
func observed(seen map[string]map[string]bool, at string, v reflect.Value) {
	if v.Kind() != reflect.Struct {
		return
	}
	if s := v.FieldByName("Source"); s.IsValid() && s.Kind() == reflect.String && v.FieldByName("NA").IsValid() {
		if s.String() != "" {
			if seen[at] == nil {
				seen[at] = map[string]bool{}
			}
			seen[at][general(s.String())] = true
		}
		return
	}
	if items := v.FieldByName("Items"); items.IsValid() {
		for i := range items.Len() {
			observed(seen, at+"[]", items.Index(i))
		}
		return
	}
	for i := range v.NumField() {
		observed(seen, strings.TrimPrefix(at+"."+v.Type().Field(i).Tag.Get("json"), "."), v.Field(i))
	}
}

// TestSources: every fact has sources, and every source that a capture shows is in the list. -update adds those that are missing, at the
// end of their fact's.
func TestSources(t *testing.T) {
	types, _ := structs(t)
	list, seen := sources(t), map[string]map[string]bool{}
	for _, dir := range hosts(t) {
		observed(seen, "", reflect.ValueOf(Read(t.Context(), openCapture(t, dir), Program{})))
	}
	if _, err := os.Stat(fixtures); err == nil {
		for _, f := range captures() {
			if f.apart == "" {
				observed(seen, "", reflect.ValueOf(Read(t.Context(), f.host(t), Program{})))
			}
		}
	}
	var out strings.Builder
	for _, f := range leaves(types, "", "SUT") {
		found := []string{}
		for s := range seen[f.path] {
			if !slices.Contains(list[f.path], s) {
				found = append(found, s)
			}
		}
		slices.Sort(found)
		fmt.Fprintln(&out, f.path)
		for _, s := range append(slices.Clone(list[f.path]), found...) {
			fmt.Fprintf(&out, "\t%s\n", s)
		}
		if len(found) > 0 && !*update {
			t.Errorf("%s was read from %q, which %s does not list; run go test ./probes -update", f.path, found, sourcesFile)
		}
		if len(found)+len(list[f.path]) == 0 {
			t.Errorf("%s has no source in %s", f.path, sourcesFile)
		}
		delete(list, f.path)
	}
	for path := range list {
		t.Errorf("%s stands in %s and is no fact", path, sourcesFile)
	}
	if *update && len(list) == 0 {
		write(t, sourcesFile, out.String())
	}
}

// ruleText is a check as the page shows it.
type ruleText struct{ id, meaning, hint string }

// rules reads the checks: their list, and the comment of each function.
func rules(t *testing.T) (list []ruleText) {
	t.Helper()
	trees, comments := parsed(t, "check"), map[string]string{}
	for _, tree := range trees {
		for _, d := range tree.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Doc != nil {
				comments[f.Name.Name] = sentence(f.Name.Name, f.Doc)
			}
		}
	}
	ast.Inspect(trees["check/checks.go"], func(n ast.Node) bool {
		row, ok := n.(*ast.CompositeLit)
		if !ok || len(row.Elts) != 3 || row.Type != nil {
			return true
		}
		id, _ := strconv.Unquote(row.Elts[0].(*ast.BasicLit).Value)
		hint, _ := strconv.Unquote(row.Elts[2].(*ast.BasicLit).Value)
		run := row.Elts[1]
		if call, wrapped := run.(*ast.CallExpr); wrapped {
			run = call.Args[0]
		}
		list = append(list, ruleText{id, comments[run.(*ast.Ident).Name], hint})
		return false
	})
	return list
}

// TestProbesPage: docs/probes.md says what the code says.
func TestProbesPage(t *testing.T) {
	types, docs := structs(t)
	from := sources(t)
	var b strings.Builder
	b.WriteString(pageHead)
	section := ""
	for _, f := range leaves(types, "", "SUT") {
		if name, _, _ := strings.Cut(f.path, "."); name != section {
			section = name
			for _, field := range types["SUT"].Fields.List {
				if _, inner := typeOf(field.Type); strings.Contains(field.Tag.Value, `"`+strings.TrimSuffix(name, "[]")+`"`) {
					fmt.Fprintf(&b, "\n### %s\n\n%s\n\n| fact | value | meaning | read from, the first that tells |\n|---|---|---|---|\n", name, docs[inner])
				}
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.path, f.kind, cell(f.meaning), cell(strings.Join(quoted(from[f.path]), ", ")))
	}
	b.WriteString(checksHead)
	for _, r := range rules(t) {
		if r.meaning == "" || r.hint == "" {
			t.Errorf("check %s lacks a comment or what to do", r.id)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.id, cell(r.meaning), cell(r.hint))
	}
	if *update {
		write(t, factsPage, b.String())
	}
	if got, err := os.ReadFile(factsPage); err != nil || string(got) != b.String() {
		t.Errorf("docs/probes.md differs from the code, or %v; run go test ./probes -update", err)
	}
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func quoted(list []string) []string {
	out := slices.Clone(list)
	for i, s := range out {
		out[i] = "`" + s + "`"
	}
	return out
}

const pageHead = `# What assay finds out about a machine

Written from the comments of the code and from what public captures were read from, by ` + "`make golden`" + `.

` + "`assay probe`" + ` reads the facts below, ` + "`assay check`" + ` judges them. Every fact has a value with its source, or says why it has none: it is not known (what was
tried, and what it would take), or it does not apply. Where two sources disagree, the one that is not chosen stands beside, with the reason. Files of
the kernel come before tools: they need no rights that a user lacks, and cannot disagree with the kernel. ` + "`*`" + ` stands for a number or an address.

## Facts
`

const checksHead = `
## Checks

Each is ok, warn, fail or unknown, with what was seen and what to do. ` + "`assay check`" + ` exits with 3 when one fails, and so does ` + "`assay run`" + ` before it starts
anything. A plan changes the weight of a check under ` + "`checks`" + `, by its id: ` + "`required`" + ` (a warning or an unknown fails), ` + "`relaxed`" + ` (a failure is a warning),
` + "`ignore`" + `, the value that is wanted, or a word and a value in a list: ` + "`power_cap: [relaxed, 600]`" + `. A value that is wanted and not there fails. A check
that is relaxed says so where it would have failed, and the result's notes name those that are ignored. The checks of a server, ` + "`server_…`" + `, come when it is ready, and are
changed in the same way: [engines.md](engines.md#is-it-the-server-that-the-plan-means) lists them. What changes from one point to the next is told by [drift](verdicts.md).

| id | looks at | what to do |
|---|---|---|
`
