package length

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/fault"
	"assay/runner/dataset"
)

// engine counts as servers do: words with the blank before them, some in several tokens, line breaks apart, a chat template around it all.
type engine struct {
	t         *testing.T
	template  int  // tokens around a chat prompt
	start     bool // a token stands before every text prompt
	letters   bool // each byte is a token
	tokenizer string
	noUsage   bool
	noIDs     bool
	asked     int // requests for one token
	lookups   int // calls of /tokenize
}

var piece = regexp.MustCompile(`[\n\r]+| ?[^\s]+|[ \t]+`)

// ids is the text's tokens.
func (e *engine) ids(text string) []int32 {
	var ids []int32
	for _, p := range piece.FindAllString(text, -1) {
		h := fnv.New32a()
		h.Write([]byte(p))
		size := 10 // bytes of one token of this word
		if rare := h.Sum32()%25 == 0; rare {
			size = 3
		}
		if e.letters {
			size = 1
		}
		for i := 0; i < len(p); i += size {
			ids = append(ids, int32(h.Sum32()%50_000)+10+int32(i))
		}
	}
	return ids
}

// ServeHTTP is /tokenize in the form of an engine.
func (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.lookups++
	var q map[string]any
	if r.Header.Get("Authorization") != "Bearer k" || json.NewDecoder(r.Body).Decode(&q) != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	field := map[string]string{"vllm": "prompt", "llamacpp": "content", "tgi": "inputs"}[e.tokenizer]
	if field == "" || r.URL.Path != "/base/tokenize" {
		http.NotFound(w, r)
		return
	}
	if strings.TrimSpace(q[field].(string)) == "" { // as some servers do
		http.Error(w, "the prompt is empty", http.StatusBadRequest)
		return
	}
	ids := e.ids(q[field].(string))
	if e.start && (q["add_special_tokens"] == true && e.tokenizer != "llamacpp" || q["add_special"] == true && e.tokenizer == "llamacpp") {
		ids = append([]int32{1}, ids...)
	}
	if e.tokenizer != "tgi" {
		json.NewEncoder(w).Encode(map[string]any{"count": len(ids), "tokens": ids})
		return
	}
	list := []map[string]any{}
	for _, id := range ids {
		list = append(list, map[string]any{"id": id, "text": "?"})
	}
	json.NewEncoder(w).Encode(list)
}

// count is the usage of a prompt.
func (e *engine) count(turn dataset.Turn, salt string) int {
	if len(turn.TokenIDs) > 0 {
		return len(turn.TokenIDs) + strings.Count(salt, ",")
	}
	n := e.template
	if e.start {
		n++
	}
	for i, m := range turn.Messages {
		text := m.Content
		if i == 0 {
			text = salt + text
		}
		n += len(e.ids("\n" + text))
	}
	return n
}

func (e *engine) ask(_ context.Context, turn dataset.Turn, salt string) (int, error) {
	e.asked++
	switch {
	case len(turn.TokenIDs) > 0 && e.noIDs, len(turn.TokenIDs) == 0 && strings.TrimSpace(salt+turn.Messages[0].Content) == "":
		return 0, errors.New("HTTP 400")
	case e.noUsage:
		return 0, ErrNoUsage
	}
	return e.count(turn, salt), nil
}

// find gives the rule for an engine.
func (e *engine) find(t *testing.T, cfg Config) (Rule, Config) {
	t.Helper()
	e.t = t
	srv := httptest.NewServer(e)
	t.Cleanup(srv.Close)
	cfg.Server = Server{Client: srv.Client(), URL: srv.URL + "/base", Header: http.Header{"Authorization": {"Bearer k"}}, Model: "m"}
	cfg.Ask = e.ask
	rule, err := Find(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return rule, cfg
}

// salt is one that a load would make.
func (r Rule) salt(rng *rand.Rand) string {
	s := r.Fixed
	for range r.Size {
		s += r.Pieces[rng.IntN(len(r.Pieces))]
	}
	return s
}

// corpus writes a text of a few thousand words that has all sorts of words in it.
func corpus(t *testing.T, name string) string {
	t.Helper()
	var b strings.Builder
	rng := rand.New(rand.NewPCG(5, 5))
	words := dataset.Words().Words
	for i := range 16_000 {
		w := words[rng.IntN(len(words))]
		if i%7 == 0 {
			w += words[rng.IntN(len(words))] + ","
		}
		b.WriteString(w + []string{" ", " ", " ", "\n"}[i%4])
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func shareGPT(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(corpus(t, "t.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for i, part := range strings.SplitAfter(string(raw), "\n") {
		line, _ := json.Marshal(map[string]any{"id": fmt.Sprint(i), "conversations": []map[string]string{{"from": "human", "value": strings.Repeat(part, 1+i%9)}}})
		out.Write(append(line, '\n'))
	}
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLengthsAreExact: by each way, of each kind, each prompt has the wanted length as the server counts it, salt and template included.
func TestLengthsAreExact(t *testing.T) {
	text, talks := corpus(t, "t.txt"), shareGPT(t)
	trace := filepath.Join(t.TempDir(), "t.jsonl")
	rows := `{"timestamp":0,"input_length":1100,"output_length":5,"hash_ids":[1,2,3]}` + "\n" + `{"timestamp":9,"input_length":70,"output_length":5}`
	if err := os.WriteFile(trace, []byte(rows), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		engine engine
		cfg    Config
		way    string
	}{
		"ids":             {engine{tokenizer: "vllm", start: true}, Config{IDs: true, Salt: "run"}, ByIDs},
		"ids, llama.cpp":  {engine{tokenizer: "llamacpp", start: true}, Config{IDs: true, Salt: "session", System: "Be kind to everyone."}, ByIDs},
		"ids, no salt":    {engine{tokenizer: "vllm", start: true}, Config{IDs: true, Salt: "none"}, ByIDs},
		"ids, own salt":   {engine{tokenizer: "vllm"}, Config{IDs: true, Salt: "text", Text: "my own salt, "}, ByIDs},
		"chat":            {engine{tokenizer: "vllm", template: 11, start: true}, Config{Salt: "run", System: "Be kind to everyone."}, ByTokenizer},
		"chat, TGI":       {engine{tokenizer: "tgi", template: 5}, Config{Salt: "run"}, ByTokenizer},
		"chat, own salt":  {engine{tokenizer: "vllm", template: 11}, Config{Salt: "text", Text: "my own salt, "}, ByTokenizer},
		"ids are refused": {engine{tokenizer: "vllm", noIDs: true}, Config{IDs: true, Salt: "run"}, ByTokenizer},
		"no tokenizer":    {engine{template: 9}, Config{Salt: "run"}, ByUsage},
		"nor a chat":      {engine{start: true}, Config{IDs: true, Salt: "session"}, ByUsage},
	} {
		t.Run(name, func(t *testing.T) {
			rule, cfg := c.engine.find(t, c.cfg)
			if rule.Way != c.way {
				t.Fatalf("the way is %s: %v", rule.Way, rule.Notes)
			}
			if c.engine.asked > 60 {
				t.Errorf("it took %d requests", c.engine.asked)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			for _, data := range []dataset.Config{
				{Kind: "synthetic", InputLen: 40}, {Kind: "synthetic", InputLen: 1500}, {Kind: "text", Path: text, InputLen: 200},
				{Kind: "text", Path: text, InputLen: 1024}, {Kind: "sharegpt", Path: talks, InputLen: 128}, {Kind: "trace", Path: trace},
			} {
				before := c.engine.lookups
				data.System, data.Vocabulary, data.Cut = cfg.System, rule.Vocabulary, rule.Cutter(t.Context(), cfg)
				src, err := dataset.Open(t.Context(), data)
				if err != nil {
					t.Fatal(err)
				}
				for range 4 {
					conv, err := src.Next()
					if err != nil {
						t.Fatal(err)
					}
					turn := conv.Turns[0]
					got := c.engine.count(turn, rule.salt(rng))
					if turn.InputTokens == 0 || got != turn.InputTokens || data.InputLen > 0 && turn.InputTokens != data.InputLen {
						t.Errorf("%s of %d: %d tokens", data.Kind, data.InputLen, got)
					}
				}
				if made := data.Kind == "synthetic" || data.Kind == "trace"; made && c.engine.lookups != before {
					t.Error("the server was asked for a made prompt")
				}
			}
		})
	}
}

// TestTextsEnd: what is left at the end of a text is shorter than a prompt, or nothing at all; the next one is cut from another text, and no
// server is asked for the tokens of nothing.
func TestTextsEnd(t *testing.T) {
	for way, e := range map[string]engine{ByIDs: {tokenizer: "vllm", start: true}, ByTokenizer: {tokenizer: "vllm", noIDs: true}, ByUsage: {noIDs: true}} {
		t.Run(way, func(t *testing.T) {
			rule, cfg := e.find(t, Config{IDs: true, Salt: "none"})
			if rule.Way != way {
				t.Fatalf("the way is %s: %v", rule.Way, rule.Notes)
			}
			cut := rule.Cutter(t.Context(), cfg)
			for _, rest := range []string{"", " \n", "two words"} {
				if _, _, whole, err := cut(rest, 64); err != nil || whole {
					t.Errorf("%q: a whole prompt %t, error %v", rest, whole, err)
				}
			}
			path := filepath.Join(t.TempDir(), "t.txt")
			if err := os.WriteFile(path, []byte(strings.Repeat("able above ", 900)+"\n\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			src, err := dataset.Open(t.Context(), dataset.Config{Kind: "text", Path: path, InputLen: 64, Vocabulary: rule.Vocabulary, Cut: cut})
			for src != nil && err == nil && src.Stats().Repeats < 3 {
				_, err = src.Next()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSaltsDoNotRepeat: a salt of pieces holds 64 bits.
func TestSaltsDoNotRepeat(t *testing.T) {
	for _, n := range []int{fewestPieces, 160, 1000} {
		var r Rule
		r.salted("run", make([]string, n))
		if bits := float64(r.Size); r.Size < 6 || bits > 16 {
			t.Errorf("%d pieces of %d", r.Size, n)
		}
	}
}

// TestNobodyKnows: a server that does not tell is measured all the same, in words, and the result says so.
func TestNobodyKnows(t *testing.T) {
	for name, c := range map[string]struct {
		engine engine
		cfg    Config
		notes  []string
	}{
		"tells nothing":      {engine{noUsage: true}, Config{Salt: "run"}, []string{"the server has no /tokenize: it answers 404 Not Found", "the server tells no usage", "prompt lengths are in words"}},
		"a token per letter": {engine{letters: true}, Config{Salt: "run"}, []string{"no /tokenize", "only 0 of the words", "prompt lengths are in words"}},
		"letters, tokenizer": {engine{letters: true, tokenizer: "vllm"}, Config{Salt: "run"}, []string{"only 0 of the words", "only 0 of the words", "prompt lengths are in words"}},
	} {
		t.Run(name, func(t *testing.T) {
			rule, cfg := c.engine.find(t, c.cfg)
			if rule.Way != ByWords || rule.Vocabulary.Counted || rule.Pieces != nil || rule.Cutter(t.Context(), cfg) != nil || len(rule.Notes) != len(c.notes) {
				t.Fatalf("%s: %q", rule.Way, rule.Notes)
			}
			for i, want := range c.notes {
				if !strings.Contains(rule.Notes[i], want) {
					t.Errorf("%q, want %q", rule.Notes[i], want)
				}
			}
		})
	}
}

func TestNoUsageButATokenizer(t *testing.T) {
	ids := engine{tokenizer: "vllm", noUsage: true}
	if rule, _ := ids.find(t, Config{IDs: true, Salt: "run"}); rule.Way != ByIDs || len(rule.Notes) != 1 {
		t.Errorf("%s %q", rule.Way, rule.Notes)
	}
	chat := engine{tokenizer: "vllm", noUsage: true}
	if rule, _ := chat.find(t, Config{Salt: "run"}); rule.Way != ByTokenizer || !slices.ContainsFunc(rule.Notes, func(s string) bool { return strings.Contains(s, "longer than wanted") }) {
		t.Errorf("%s %q", rule.Way, rule.Notes)
	}
}

func TestFindEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("interrupted")
	ask := func(context.Context, dataset.Turn, string) (int, error) { cancel(gone); return 0, gone }
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	if _, err := Find(ctx, Config{Server: Server{Client: srv.Client(), URL: srv.URL}, Ask: ask}); !errors.Is(err, gone) {
		t.Error(err)
	}
}

// TestTokenizerGoesAway: a text that cannot be cut is a fault that says what to do, not a prompt of another length.
func TestTokenizerGoesAway(t *testing.T) {
	e := engine{tokenizer: "vllm"}
	rule, cfg := e.find(t, Config{Salt: "run"})
	e.tokenizer = ""
	_, err := dataset.Open(t.Context(), dataset.Config{Kind: "text", Path: corpus(t, "t.txt"), InputLen: 64, Vocabulary: rule.Vocabulary, Cut: rule.Cutter(t.Context(), cfg)})
	if f := fault.Of(err, fault.Client); f == nil || f.Code != "client.prompt_length" || f.Hint == "" {
		t.Error(err)
	}
}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{`{"tokens":[1,2]}`, `[{"id":5,"text":"a"}]`, `{"count":1}`, `[]`, `null`, `{"tokens":["a"]}`, `[{"text":"a"}]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		if ids, err := parseTokens(answer); err != nil && (ids != nil || !errors.Is(err, errNoTokenizer)) {
			t.Error(ids, err)
		}
	})
}

func FuzzWordEnd(f *testing.F) {
	f.Add("one two drei vierundf\u00fcnfzig", 9)
	f.Fuzz(func(t *testing.T, text string, n int) {
		if end := wordEnd(text, n); end < 0 || end > len(text) || n < len(text) && end > max(0, n) {
			t.Error(end)
		}
	})
}
