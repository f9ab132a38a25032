package sim

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type tokenized struct {
	Count  int
	Max    int `json:"max_model_len"`
	Tokens []int
	Error  *apiError
}

func tokenize(t *testing.T, s *Server, body string) tokenized {
	t.Helper()
	var got tokenized
	if err := json.Unmarshal(post(t, s, "/tokenize", body).Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestTokenize(t *testing.T) {
	cfg := Config{TokenBytes: 4, TemplateTokens: 3, ContextLen: 64}
	for _, c := range []struct {
		name, body string
		count      int
	}{
		{"words", `{"prompt":"one two"}`, 2},
		{"pieces of long words", `{"prompt":"extraordinary it is"}`, 6},
		{"ids", `{"prompt":[5,6,7]}`, 3},
		{"a chat with the opening of the reply", `{"model":"sim","messages":[{"role":"system","content":"be"},{"role":"user","content":"brief"}]}`, 3 + 1 + 3 + 2 + 3},
		{"a chat alone", `{"messages":[{"role":"user","content":"brief"}],"add_generation_prompt":false}`, 3 + 2},
		{"another model", `{"model":"other","prompt":"a"}`, 0},
		{"nothing", `{}`, 0},
		{"an id too large", `{"prompt":[128000]}`, 0},
	} {
		got := tokenize(t, New(cfg), c.body)
		if got.Count != c.count || len(got.Tokens) != c.count || (c.count == 0) != (got.Error != nil) || c.count > 0 && got.Max != 64 {
			t.Errorf("%s: %+v, want %d", c.name, got, c.count)
		}
	}
}

// TestTokensAgree: the ids of /tokenize ask the same as the text, the usage counts as /tokenize does, and a reply that comes back in
// a prompt has as many tokens as it had.
func TestTokensAgree(t *testing.T) {
	s := New(Config{TokenBytes: 5, TemplateTokens: 2, BlockTokens: 4})
	prompt := strings.Repeat("an extraordinary measurement of throughput ", 5)
	told := tokenize(t, s, fmt.Sprintf(`{"prompt":%q}`, prompt))
	ids, _ := json.Marshal(told.Tokens)
	var texts []string
	for _, p := range []string{fmt.Sprintf("%q", prompt), string(ids)} {
		w := post(t, s, "/v1/completions", fmt.Sprintf(`{"prompt":%s,"max_tokens":40,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true}}`, p))
		list, _ := events(t, w.Body)
		said, _ := text(list)
		texts = append(texts, said)
		if u := list[len(list)-1].Usage; u.Prompt != told.Count {
			t.Errorf("usage %+v, /tokenize %d", u, told.Count)
		}
	}
	if diff := cmp.Diff(texts[0], texts[1]); diff != "" {
		t.Errorf("text and ids (-text +ids):\n%s", diff)
	}
	if cached := s.Truth()[1].CachedTokens; cached != (told.Count-1)/4*4 {
		t.Errorf("%d of %d tokens came from the cache", cached, told.Count)
	}
	if back := tokenize(t, s, fmt.Sprintf(`{"prompt":%q}`, texts[0])); back.Count != 40 {
		t.Errorf("a reply of 40 tokens comes back as %d", back.Count)
	}
}
