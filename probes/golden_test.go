package probes

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	update   = flag.Bool("update", false, "write the golden files anew")
	sections = flag.String("section", "", "compare and write only these sections, such as cpu,memory,checks; all when empty")
)

// hosts gives the captures in testdata; a new one needs no line anywhere.
func hosts(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob("testdata/hosts/*-*")
	if err != nil || len(dirs) < 6 {
		t.Fatalf("captures in testdata: %v, %v", dirs, err)
	}
	return dirs
}

func document(t *testing.T, s SUT) []byte {
	t.Helper()
	s.ProbedAtUS = 0
	return indented(t, s)
}

func indented(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; -update writes it anew)\n%s", name, diff)
	}
}

// goldens gives what is compared of a host: each section of its SUT by the section's name, and the checks.
func goldens(t *testing.T, s SUT) map[string][]byte {
	t.Helper()
	out := map[string][]byte{"checks": indented(t, Evaluate(CheckRequest{SUT: s}))}
	for i, typ := 0, reflect.TypeFor[SUT](); i < typ.NumField(); i++ {
		switch name := typ.Field(i).Tag.Get("json"); name {
		case "schema", "probed_at_us", "program": // of the document, not of the machine
		default:
			out[name] = indented(t, reflect.ValueOf(s).Field(i).Interface())
		}
	}
	return out
}

// asked gives the names that -section asks for, all when it asks for none.
func asked(t *testing.T, all map[string][]byte) []string {
	t.Helper()
	if *sections == "" {
		return slices.Sorted(maps.Keys(all))
	}
	names := strings.Split(*sections, ",")
	for _, name := range names {
		if all[name] == nil {
			t.Fatalf("there is no section %q; there are %v", name, slices.Sorted(maps.Keys(all)))
		}
	}
	return names
}

// TestGolden reads every capture and compares each section of its SUT, and its checks, with the files beside it.
func TestGolden(t *testing.T) {
	for _, dir := range hosts(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			s := Read(t.Context(), openCapture(t, dir), Program{Version: "test"})
			all := goldens(t, s)
			for _, name := range asked(t, all) {
				compareGolden(t, filepath.Join(dir, "want", name+".json"), all[name])
			}
			files, err := filepath.Glob(filepath.Join(dir, "want", "*"))
			if err != nil || len(files) != len(all) {
				t.Errorf("%d files hold what is wanted, not %d: %v", len(files), len(all), err)
			}
			everyLeafSpeaks(t, document(t, s), `/tmp/`, `testdata`) // where the capture lies
			if m := regexp.MustCompile(`.*(/tmp/|testdata).*`).Find(document(t, s)); m != nil {
				t.Errorf("the document says where the capture lies: %s", m)
			}
		})
	}
}

// everyLeafSpeaks fails for a fact that nobody filled, for values that stand for none, and for what a document must never hold.
func everyLeafSpeaks(t *testing.T, doc []byte, never ...string) {
	t.Helper()
	for _, bad := range append(never, `"not probed"`, `"unknown": ""`, `"value": "N/A"`, `"value": ""`, `"value": -1`, `\[Not Supported\]`, `4294967295`) {
		if m := regexp.MustCompile(".*" + bad + ".*").Find(doc); m != nil {
			t.Errorf("the document holds %s", m)
		}
	}
}

// TestDocumentRoundTrip reads a SUT document back to the same SUT.
func TestDocumentRoundTrip(t *testing.T) {
	for _, dir := range hosts(t) {
		s := Read(context.Background(), openCapture(t, dir), Program{})
		var back SUT
		if err := json.Unmarshal(document(t, s), &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(document(t, s)), string(document(t, back))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", dir, diff)
		}
	}
}
