package probes

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

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
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(s); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
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

// TestGolden reads every capture and compares the SUT, its plain form and its checks with the files beside it.
func TestGolden(t *testing.T) {
	for _, dir := range hosts(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			s := Read(context.Background(), openCapture(t, dir), Program{Version: "test"})
			compareGolden(t, filepath.Join(dir, "sut.golden.json"), document(t, s))
			checks, err := json.MarshalIndent(Evaluate(s, nil), "", " ")
			if err != nil {
				t.Fatal(err)
			}
			compareGolden(t, filepath.Join(dir, "checks.golden.json"), append(checks, '\n'))
			everyLeafSpeaks(t, document(t, s))
		})
	}
}

// everyLeafSpeaks fails for a fact that nobody filled, and for values that stand for none.
func everyLeafSpeaks(t *testing.T, doc []byte) {
	t.Helper()
	for _, bad := range []string{`"not probed"`, `"unknown": ""`, `"value": "N/A"`, `"value": ""`, `"value": -1`, `\[Not Supported\]`, `4294967295`, `/tmp/`, `testdata`} {
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
