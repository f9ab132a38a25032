package dataset

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/fault"

	"github.com/google/go-cmp/cmp"
)

func TestCutWords(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want string
		used int
		ok   bool
	}{
		{"one  two\nthree four", 3, "one two three", 14, true}, {" one", 1, "one", 4, true}, {"one two", 3, "", 0, false}, {"", 1, "", 0, false},
		{"eins\u00a0zwei \u3000 drei", 3, "eins zwei drei", 19, true},
	} {
		turn, used, ok, err := CutWords(c.text, c.n)
		if err != nil || ok != c.ok || ok && (turn.Messages[0].Content != c.want || used != c.used) {
			t.Errorf("%q: %+v %d %v %v", c.text, turn, used, ok, err)
		}
	}
}

// talks writes conversations whose first questions have the given numbers of words, each word naming its conversation.
func talks(t *testing.T, lengths ...int) string {
	t.Helper()
	var b strings.Builder
	for i, n := range lengths {
		question := strings.TrimSpace(strings.Repeat(fmt.Sprintf("w%d ", i), n))
		fmt.Fprintf(&b, "{\"id\":\"c%d\",\"conversations\":[{\"from\":\"human\",\"value\":%q},{\"from\":\"gpt\",\"value\":\"no\"}]}\n", i, question)
	}
	return write(t, "s.jsonl", b.String())
}

// TestShareGPTGlued: first questions are put together until the length is reached and cut to it; one that is longer by itself is passed
// over, and that is told.
func TestShareGPTGlued(t *testing.T) {
	path := talks(t, 3, 4, 50, 5, 6, 2)
	s := open(t, Config{Kind: "sharegpt", Path: path, InputLen: 8, Seed: 5})
	a := take(t, s, 2)
	for _, c := range a {
		text := strings.Fields(c.Turns[0].Messages[0].Content)
		if len(text) != 8 || len(c.Turns) != 1 || strings.Contains(c.Turns[0].Messages[0].Content, "w2") || text[0] == text[7] {
			t.Errorf("%s: %v", c.ID, text)
		}
	}
	for s.Stats().Repeats == 0 {
		take(t, s, 1)
	}
	if diff := cmp.Diff(a, take(t, open(t, Config{Kind: "sharegpt", Path: path, InputLen: 8, Seed: 5}), 2)); diff != "" {
		t.Error("not the same again:", diff)
	}
	passed := open(t, Config{Kind: "sharegpt", Path: talks(t, 50, 50, 50, 3, 3, 3), InputLen: 4})
	take(t, passed, 1)
	if st := passed.Stats(); len(st.Notes) > 1 || len(st.Notes) == 1 && !strings.HasSuffix(st.Notes[0], "conversations begin with a question longer than input_len and were passed over") {
		t.Errorf("%+v", st)
	}
	for want, path := range map[string]string{"2 conversations begin": talks(t, 50, 50), "all questions together": talks(t, 2, 3)} {
		if _, err := Open(t.Context(), Config{Kind: "sharegpt", Path: path, InputLen: 40}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestCutterFails: a tokenizer that does not answer is no bad line.
func TestCutterFails(t *testing.T) {
	down := fault.New(fault.Client, "tokenize", "look at the server", "no answer")
	cut := func(string, int) (Turn, int, bool, error) { return Turn{}, 0, false, down }
	for kind, path := range map[string]string{"text": write(t, "t.txt", strings.Repeat("word ", 500)), "sharegpt": talks(t, 20, 20)} {
		if _, err := Open(t.Context(), Config{Kind: kind, Path: path, InputLen: 5, Cut: cut}); !errors.Is(err, down) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// TestShared: so many different conversations in rotation, each with its number.
func TestShared(t *testing.T) {
	s := open(t, Config{Kind: "synthetic", InputLen: 5, Shared: 3, Turns: 2})
	list := take(t, s, 8)
	for i, c := range list {
		first := list[i%3]
		if c.Prompt != i%3+1 || c.Repeat != i/3 || !cmp.Equal(c.Turns, first.Turns) {
			t.Errorf("%d: %+v", i, c)
		}
	}
	if s.Stats().Repeats != 0 || list[7].ID != "synthetic-2__repeat_2" {
		t.Errorf("%s %+v", list[7].ID, s.Stats())
	}
	few := open(t, Config{Kind: "sharegpt", Path: talks(t, 3, 4), Shared: 9})
	if list := take(t, few, 3); list[2].Prompt != 1 || list[0].Prompt != 1 {
		t.Errorf("%+v", list)
	}
}

// TestAhead: conversations that were made before a load are used again, each time with a salt of its own, and that is told.
func TestAhead(t *testing.T) {
	s := open(t, Config{Kind: "sharegpt", Path: talks(t, 3, 4, 5), Ahead: func(made int) bool { return made < 2 }})
	list := take(t, s, 5)
	if again := Again(s); !cmp.Equal(take(t, again, 5), list) || again.Stats().Repeats != 2 {
		t.Errorf("once more: %+v", again.Stats())
	}
	if s.Stats().Repeats != 2 || s.Stats().Made != 2 || list[4].Prompt != 0 || list[4].Repeat != 2 || !cmp.Equal(list[4].Turns, list[0].Turns) || len(s.Stats().SHA256) != 64 {
		t.Errorf("%+v %+v", s.Stats(), list[4])
	}
}

// TestHashesAreKept: a file that has not changed is not read again, one that has is.
func TestHashesAreKept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	put := func(text string, at time.Time) {
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	var h Hashes
	for _, of := range []string{path, dir} {
		put("abc", time.Unix(1000, 0))
		first, err := h.Of(t.Context(), of)
		if want, _ := hashOf(t.Context(), of); err != nil || first != want {
			t.Fatal(first, err)
		}
		put("xyz", time.Unix(1000, 0)) // a change that leaves size, time and inode: only reading would show it
		if again, _ := h.Of(t.Context(), of); again != first {
			t.Error("it was read again")
		}
		put("xyz", time.Unix(2000, 0))
		if changed, _ := h.Of(t.Context(), of); changed == first {
			t.Error("a change was not seen")
		}
	}
	if _, err := h.Of(t.Context(), filepath.Join(dir, "none")); fault.Of(err, fault.Client).Code != "client.dataset_missing" {
		t.Error(err)
	}
}

// TestHashingEnds: nobody waits for the hash of a large file that is no longer wanted, and half a file's hash is never kept.
func TestHashingEnds(t *testing.T) {
	path := write(t, "a.txt", strings.Repeat("word ", hashStep))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the user went home"))
	var h Hashes
	for _, of := range []string{path, filepath.Dir(path)} {
		for _, kept := range []*Hashes{nil, &h} {
			if sum, err := kept.Of(ctx, of); sum != "" || err == nil || err.Error() != "the user went home" {
				t.Errorf("%s: %q, %v", of, sum, err)
			}
		}
		want, _ := hashOf(t.Context(), of)
		if got, err := h.Of(t.Context(), of); got != want || len(want) != 64 || err != nil {
			t.Errorf("%s afterwards: %q, %v; want %q", of, got, err, want)
		}
	}
}

// TestJSONLForms: batch files of OpenAI, rows with a system prompt, and contents in parts.
func TestJSONLForms(t *testing.T) {
	rows := []string{
		`{"custom_id":"r-1","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[{"role":"user","content":"one"}],"max_completion_tokens":7}}`,
		`{"text_input":"two","system":"Be brief."}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"thr"},{"type":"text","text":"ee"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"k"}]},{"role":"tool","content":"4","tool_call_id":"k"}]}`,
		`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}]}`,
		`{"messages":[{"role":"user","content":5}]}`,
	}
	s := open(t, Config{Kind: "jsonl", Path: write(t, "p.jsonl", strings.Join(rows, "\n"))})
	want := []Conversation{
		{ID: "r-1", Turns: []Turn{{Messages: user("one"), MaxTokens: 7}}},
		{ID: "line-2", Turns: []Turn{{Messages: []Message{{Role: "system", Content: "Be brief."}, {Role: "user", Content: "two"}}}}},
		{ID: "line-3", Turns: []Turn{{Messages: []Message{{Role: "user", Content: "three"},
			{Role: "assistant", ToolCalls: []byte(`[{"id":"k"}]`)}, {Role: "tool", Content: "4", ToolCallID: "k"}}}}},
	}
	if diff := cmp.Diff(want, take(t, s, 3)); diff != "" {
		t.Error(diff)
	}
	take(t, s, 1)
	if st := s.Stats(); st.BadLines != 2 || !strings.Contains(st.BadFirst[0], `line 4: content has a part of type "image_url"`) || !strings.Contains(st.BadFirst[1], "line 5: content is neither") {
		t.Errorf("%+v", st)
	}
}
