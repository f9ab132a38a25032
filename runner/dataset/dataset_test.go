package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/fault"

	"github.com/google/go-cmp/cmp"
)

// write puts content into a file of the test's folder.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, cfg Config) Source {
	t.Helper()
	s, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := s.(io.Closer); ok {
		t.Cleanup(func() { c.Close() })
	}
	return s
}

// take gives the next n conversations.
func take(t *testing.T, s Source, n int) []Conversation {
	t.Helper()
	var list []Conversation
	for range n {
		c, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

func user(text string) []Message { return []Message{{Role: "user", Content: text}} }

func TestSyntheticIsExactAndRepeatable(t *testing.T) {
	cfg := Config{Kind: "synthetic", Seed: 7, InputLen: 40, Turns: 3, System: "be kind"}
	a, b := take(t, open(t, cfg), 20), take(t, open(t, cfg), 20)
	if diff := cmp.Diff(a, b); diff != "" {
		t.Fatal("the same seed gave others:", diff)
	}
	seen := map[string]bool{}
	for _, c := range a {
		if len(c.Turns) != 3 || c.Turns[0].Messages[0].Content != "be kind" || len(c.Turns[0].Messages) != 2 || len(c.Turns[1].Messages) != 1 {
			t.Fatalf("%+v", c)
		}
		for _, turn := range c.Turns {
			text := turn.Messages[len(turn.Messages)-1].Content
			if n := len(strings.Fields(text)); n != 40 || seen[text] {
				t.Errorf("%d words, seen %v", n, seen[text])
			}
			seen[text] = true
		}
	}
	cfg.Seed = 8
	if take(t, open(t, cfg), 1)[0].Turns[0].Messages[1].Content == a[0].Turns[0].Messages[1].Content {
		t.Error("another seed gave the same")
	}
	cfg.InputLen = 0
	if n := len(strings.Fields(take(t, open(t, cfg), 1)[0].Turns[1].Messages[0].Content)); n != DefaultInputLen {
		t.Errorf("default length %d", n)
	}
}

func TestVocabularyHasNoWordTwice(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range strings.Fields(vocabulary) {
		if seen[w] {
			t.Error(w)
		}
		seen[w] = true
	}
}

func TestJSONL(t *testing.T) {
	path := write(t, "p.jsonl", "\xef\xbb\xbf"+`{"prompt":"one","output_tokens":9}`+"\r\n\n"+
		`{"id":"x","messages":[{"role":"system","content":"s"},{"role":"user","content":"two"}]}`+"\n"+
		`{"id":17,"text":"three","max_tokens":200}`)
	s := open(t, Config{Kind: "jsonl", Path: path, MaxTokens: 100})
	want := []Conversation{
		{ID: "line-1", Turns: []Turn{{Messages: user("one"), MaxTokens: 9}}},
		{ID: "x", Turns: []Turn{{Messages: []Message{{Role: "system", Content: "s"}, {Role: "user", Content: "two"}}}}},
		{ID: "17", Turns: []Turn{{Messages: user("three"), MaxTokens: 100}}},
		{ID: "line-1__repeat_1", Repeat: 1, Turns: []Turn{{Messages: user("one"), MaxTokens: 9}}},
	}
	if diff := cmp.Diff(want, take(t, s, 4)); diff != "" {
		t.Error(diff)
	}
	if st := s.Stats(); st.Repeats != 1 || st.BadLines != 0 || len(st.SHA256) != 64 {
		t.Errorf("%+v", st)
	}
}

func TestBadLinesAreNamedOnce(t *testing.T) {
	lines := []string{`{"prompt":"good"}`, `{"prompt":`, `{}`, `{"prompt":"a","messages":[{"role":"user","content":"b"}]}`, `{"messages":[{"role":"boss","content":"b"}]}`,
		"\xff\xfe", `[1]`, `{"prompt":"better"}`}
	path := write(t, "p.jsonl", strings.Join(lines, "\n"))
	s := open(t, Config{Kind: "jsonl", Path: path})
	take(t, s, 5)
	st := s.Stats()
	if st.BadLines != 6 || len(st.BadFirst) != badKept || st.Repeats != 2 {
		t.Errorf("%+v", st)
	}
	for i, bad := range st.BadFirst {
		if !strings.HasPrefix(bad, fmt.Sprintf("line %d: ", i+2)) {
			t.Errorf("%d: %s", i, bad)
		}
	}
	strict := open(t, Config{Kind: "jsonl", Path: path, Strict: true})
	take(t, strict, 1)
	if _, err := strict.Next(); fault.Of(err, fault.Client).Code != "client.dataset_bad_line" || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("strict: %v", err)
	}
}

func TestOpenFaults(t *testing.T) {
	folder := t.TempDir()
	for _, tc := range []struct {
		name, code string
		cfg        Config
	}{
		{"kind", "client.dataset_kind", Config{Kind: "poems"}},
		{"negative", "client.dataset_config", Config{Kind: "synthetic", InputLen: -1}},
		{"no path", "client.dataset_missing", Config{Kind: "jsonl"}},
		{"missing file", "client.dataset_missing", Config{Kind: "jsonl", Path: filepath.Join(folder, "none.jsonl")}},
		{"missing built-in", "client.dataset_missing", Config{Kind: "agentic", Builtin: "huge"}},
		{"empty file", "client.dataset_empty", Config{Kind: "jsonl", Path: write(t, "e.jsonl", "")}},
		{"blank file", "client.dataset_empty", Config{Kind: "jsonl", Path: write(t, "e.jsonl", "\n \n")}},
		{"blank sharegpt", "client.dataset_empty", Config{Kind: "sharegpt", Path: write(t, "e.json", " \n")}},
		{"empty array", "client.dataset_empty", Config{Kind: "sharegpt", Path: write(t, "e.json", "[]")}},
		{"only bad lines", "client.dataset_empty", Config{Kind: "jsonl", Path: write(t, "b.jsonl", "{}\n{}\n")}},
		{"folder for a file", "client.dataset_folder", Config{Kind: "jsonl", Path: folder}},
		{"folder without texts", "client.dataset_empty", Config{Kind: "text", Path: folder}},
		{"text too short", "client.dataset_empty", Config{Kind: "text", InputLen: 9, Path: write(t, "a.txt", "a b c")}},
		{"other format", "client.dataset_empty", Config{Kind: "agentic", Path: write(t, "a.jsonl", `{"prompt":"x"}`)}},
		{"strict", "client.dataset_bad_line", Config{Kind: "jsonl", Strict: true, Path: write(t, "s.jsonl", "{}\n")}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Open(t.Context(), tc.cfg)
			var f *fault.Fault
			if !errors.As(err, &f) || f.Code != tc.code || f.Hint == "" {
				t.Errorf("%v, want %s", err, tc.code)
			}
		})
	}
}

func TestShareGPT(t *testing.T) {
	path := write(t, "s.json", ` [
	{"id":"a","conversations":[{"from":"system","value":"sys"},{"from":"human","value":"q1"},{"from":"gpt","value":"r1"},{"from":"human","value":"q2"},{"from":"human","value":"q3"},{"from":"gpt","value":"r3"}]},
	{"conversations":[{"from":"gpt","value":"hello"},{"role":"user","content":"q"}]},
	{"id":"c","conversations":[{"from":"gpt","value":"alone"}]},
	{"id":"d","conversations":"text"},
	{"id":"e","conversations":[{"from":"alien","value":"?"}]}
	]`)
	s := open(t, Config{Kind: "sharegpt", Path: path})
	want := []Conversation{
		{ID: "a", Turns: []Turn{
			{Messages: []Message{{Role: "system", Content: "sys"}, {Role: "user", Content: "q1"}}, Reply: "r1"},
			{Messages: []Message{{Role: "user", Content: "q2"}, {Role: "user", Content: "q3"}}, Reply: "r3"},
		}},
		{ID: "record-2", Turns: []Turn{{Messages: user("q")}}},
	}
	got := take(t, s, 3)
	if got[0].ID != "a" {
		got[0], got[1] = got[1], got[0] // their order is shuffled
	}
	if diff := cmp.Diff(want, got[:2]); diff != "" {
		t.Error(diff)
	}
	if st := s.Stats(); !strings.HasSuffix(got[2].ID, "__repeat_1") || st.BadLines != 3 || !strings.HasPrefix(st.BadFirst[0], "record 3: ") {
		t.Errorf("%s %+v", got[2].ID, st)
	}
	one := take(t, open(t, Config{Kind: "sharegpt", Path: path, Turns: 1, System: "first"}), 2)
	if c := one[slices.IndexFunc(one, func(c Conversation) bool { return c.ID == "a" })]; len(c.Turns) != 1 || c.Turns[0].Messages[0].Content != "first\n\nsys" {
		t.Errorf("%+v", c)
	}
}

func TestShareGPTCutShort(t *testing.T) {
	path := write(t, "s.json", `[{"id":"a","conversations":[{"from":"human","value":"q"}]},{"id":"b","conver`)
	s := open(t, Config{Kind: "sharegpt", Path: path})
	take(t, s, 3)
	if st := s.Stats(); st.Repeats != 2 || st.BadLines != 1 || !strings.Contains(st.BadFirst[0], "record 2, byte") {
		t.Errorf("%+v", st)
	}
}

func TestText(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a.txt":     "licence words\n*** START OF THE BOOK ***\none two  three\nfour five six seven\n*** END OF THE BOOK ***\nmore licence words here",
		"sub/b.txt": "alpha beta gamma delta",
		"notes.md":  "not meant to be sent",
		"short.txt": "too short",
		"c.bin":     "not read at all",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	cfg := Config{Kind: "text", Path: dir, InputLen: 3, Seed: 4}
	s := open(t, cfg)
	got := map[string]string{}
	for _, c := range take(t, s, 3) {
		got[c.ID] = c.Turns[0].Messages[0].Content
	}
	want := map[string]string{"text-1-1": "one two three", "text-1-2": "four five six", "text-3-1": "alpha beta gamma"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	take(t, s, 1)
	if st := s.Stats(); st.Repeats != 1 || st.BadLines != 1 || st.BadFirst[0] != "short.txt is too short: a prompt needs 3 words (input_len)" {
		t.Errorf("%+v", st)
	}
	if diff := cmp.Diff(take(t, open(t, cfg), 9), take(t, open(t, cfg), 9)); diff != "" {
		t.Error("not the same again:", diff)
	}
	before := s.Stats().SHA256
	if err := os.WriteFile(filepath.Join(dir, "c.bin"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if h, _ := hashOf(t.Context(), dir); h != before {
		t.Error("the hash depends on a file that is not read")
	}
	if err := os.WriteFile(filepath.Join(dir, "short.txt"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if h, _ := hashOf(t.Context(), dir); h == before {
		t.Error("the hash does not see a change")
	}
}

func TestTextThatIsNone(t *testing.T) {
	for name, content := range map[string]string{"alien": "a b c \xff\xfe d e f", "long": strings.Repeat("a b c ", 20) + strings.Repeat("x", wordLimit+5)} {
		s := open(t, Config{Kind: "text", InputLen: 3, Path: write(t, "t.txt", content)})
		for s.Stats().Repeats == 0 {
			take(t, s, 1)
		}
		if st := s.Stats(); st.BadLines != 1 || st.Repeats != 1 || !strings.Contains(st.BadFirst[0], "not read further") {
			t.Errorf("%s: %+v", name, st)
		}
	}
}

func TestHashIsOfTheBytes(t *testing.T) {
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if h, err := hashOf(t.Context(), write(t, "f", "abc")); h != abc || err != nil {
		t.Errorf("%s %v", h, err)
	}
}

func TestAnswer(t *testing.T) {
	said := []Message{{Role: "assistant", Content: "x", ToolCalls: json.RawMessage(`[]`)}}
	for _, tc := range []struct {
		turn Turn
		want []Message
	}{
		{Turn{}, []Message{{Role: "assistant", Content: "live"}}},
		{Turn{Reply: "kept"}, []Message{{Role: "assistant", Content: "kept"}}},
		{Turn{Reply: "kept", Script: said}, said},
		{Turn{Script: []Message{}}, []Message{}},
	} {
		if diff := cmp.Diff(tc.want, tc.turn.Answer("live")); diff != "" {
			t.Error(diff)
		}
	}
}

func TestBuiltin(t *testing.T) {
	raw, err := Builtin("agentic-small")
	if err != nil || len(raw) == 0 || len(raw) > 200<<10 {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}
	s := open(t, Config{Kind: "agentic", Builtin: "agentic-small", ToolDelay: true, Strict: true})
	list := take(t, s, 25)
	for _, c := range list[:24] {
		if n := len(c.Turns); n < 3 || n > 6 {
			t.Errorf("%s has %d turns", c.ID, n)
		}
		for i, turn := range c.Turns {
			if turn.Script == nil || turn.MaxTokens == 0 || turn.Wait > time.Second || i > 0 && turn.Wait == 0 {
				t.Errorf("%s turn %d: %+v", c.ID, i+1, turn)
			}
		}
	}
	if list[24].ID != list[0].ID+"__repeat_1" || s.Stats().SHA256 != sum(raw) {
		t.Errorf("%s, %+v", list[24].ID, s.Stats())
	}
}
