package dialect

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/runner/dataset"
)

var update = flag.Bool("update", false, "write the golden files anew")

func ask(t *testing.T, q Request) string {
	t.Helper()
	b, err := q.Encode([]dataset.Message{{Role: "user", Content: "hi"}}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return string(b.With("salt "))
}

// TestBodies: the whole body for each engine, with every field that its dialect has.
func TestBodies(t *testing.T) {
	var got strings.Builder
	for _, d := range Dialects() {
		q := Request{Endpoint: "chat", Model: "m", Dialect: d.Engine, MaxTokens: 9, IgnoreEOS: true}
		got.WriteString(d.Engine + " " + ask(t, q) + "\n")
		q.Omit = q.Offers()
		got.WriteString(d.Engine + ", all refused " + ask(t, q) + "\n")
	}
	const file = "testdata/bodies.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Error(diff)
	}
}

// TestOffers: every field that is offered stands in the body, and none that is left out; what is inside another comes after it.
func TestOffers(t *testing.T) {
	for _, d := range Dialects() {
		q := Request{Endpoint: "chat", Model: "m", Dialect: d.Engine, MaxTokens: 9, IgnoreEOS: true}
		offers := q.Offers()
		for i, field := range offers {
			key := `"` + field[strings.LastIndexByte(field, '.')+1:] + `":`
			if body := ask(t, q); !strings.Contains(body, key) {
				t.Errorf("%s: %s is not in %s", d.Engine, field, body)
			}
			less := q
			less.Omit = []string{field}
			if body := ask(t, less); strings.Contains(body, key) {
				t.Errorf("%s: %s is left out, but in %s", d.Engine, field, body)
			}
			if outer, _, inside := strings.Cut(field, "."); inside && !slices.Contains(offers[:i], outer) {
				t.Errorf("%s: %s comes before %s", d.Engine, field, outer)
			}
		}
		free := Request{Endpoint: "chat", Model: "m", Dialect: d.Engine, MaxTokens: 9}
		if body := ask(t, free); strings.Contains(body, "ignore_eos") || strings.Contains(body, "min_tokens") {
			t.Errorf("%s: an answer of any length is asked for with %s", d.Engine, body)
		}
		if lacks := q.Lacks(); (len(lacks) == 0) == (d.IgnoreEOS == "") || len(free.Lacks()) > 0 {
			t.Errorf("%s lacks %q", d.Engine, lacks)
		}
	}
}

func TestUnknownEnginesSpeakOpenAI(t *testing.T) {
	if d := Named("abacus"); d.Engine != "openai" {
		t.Errorf("%+v", d)
	}
	if d := Named("tgi"); d.Engine != "tgi" {
		t.Errorf("%+v", d)
	}
}

func TestEncodeIDs(t *testing.T) {
	q := Request{Endpoint: "completions", Model: `m"prompt":[`, Dialect: "vllm", MaxTokens: 9}
	b, err := q.EncodeIDs([]int32{5, 1, 1023}, 4)
	if err != nil {
		t.Fatal(err)
	}
	for salt, want := range map[string][]int32{"": {5, 1, 1023}, "77,8,": {77, 8, 5, 1, 1023}} {
		var got struct {
			Model  string
			Prompt []int32
			Max    int `json:"max_tokens"`
		}
		body := b.With(salt)
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if !slices.Equal(got.Prompt, want) || got.Max != 4 || got.Model != q.Model || len(body) != b.Len(salt) {
			t.Errorf("%s: %+v", body, got)
		}
	}
	if _, err := q.EncodeIDs(nil, 0); err == nil {
		t.Error("a prompt of no ids is sent")
	}
	q.Endpoint = "chat"
	if _, err := q.EncodeIDs([]int32{1}, 0); err == nil {
		t.Error("a chat of ids is sent")
	}
}

func TestTakesIDs(t *testing.T) {
	for engine, want := range map[string]bool{"vllm": true, "openai": true, "tgi": false, "ollama": false} {
		if got := (Request{Endpoint: "completions", Dialect: engine}).TakesIDs(); got != want {
			t.Errorf("%s: %v", engine, got)
		}
		if (Request{Endpoint: "chat", Dialect: engine}).TakesIDs() {
			t.Errorf("%s: a chat takes ids", engine)
		}
	}
}

// A salt is the inside of a string; what is no message cannot be salted.
func TestSalt(t *testing.T) {
	q := Request{Endpoint: "completions", Model: "m", Dialect: "tgi", MaxTokens: 1}
	b, err := q.Encode([]dataset.Message{{Role: "system", Content: "a"}, {Role: "user", Content: "b"}}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(b.With("x ")); !strings.Contains(got, `"prompt":"x a\n\nb"`) {
		t.Error(got)
	}
	q.Endpoint = "chat"
	if _, err := q.Encode(nil, nil, 0); err == nil {
		t.Error("a chat without messages is sent")
	}
}

// TestCache: cache_prompt is sent where the server has it and the plan says so; elsewhere it is said to be missing.
func TestCache(t *testing.T) {
	for _, d := range Dialects() {
		no := false
		q := Request{Endpoint: "chat", Model: "m", Dialect: d.Engine, MaxTokens: 9, Cache: &no}
		has := strings.Contains(ask(t, q), `"cache_prompt":false`)
		if has != (d.Engine == "llamacpp") || has == (len(q.Lacks()) > 0) {
			t.Errorf("%s: in the body %v, lacks %q", d.Engine, has, q.Lacks())
		}
		q.Omit = []string{"cache_prompt"}
		if strings.Contains(ask(t, q), "cache_prompt") {
			t.Errorf("%s: it is left out, but in the body", d.Engine)
		}
	}
}
