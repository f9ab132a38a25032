package stream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/runner/record"
)

const vllmChunk = `{"id":"chatcmpl-8202af01","object":"chat.completion.chunk","created":1796072433,"model":"tiny","choices":[{"index":0,"delta":{"content":" counts"},"logprobs":null,"finish_reason":null,"token_ids":null}],"usage":{"prompt_tokens":4,"total_tokens":5,"completion_tokens":1}}`

func scan(s string) chunk {
	var c chunk
	parseChunk([]byte(s), &c)
	return c
}

func TestChunks(t *testing.T) {
	cases := []struct {
		name, json string
		want       chunk
	}{
		{"vLLM chat token", vllmChunk, chunk{id: []byte("chatcmpl-8202af01"), choices: 1, content: []byte(" counts"), answer: true, tokenIDs: -1,
			usage: true, output: 1, input: 4}},
		{"role with empty content", `{"choices":[{"delta":{"role":"assistant","content":""},"finish_reason":null}]}`, chunk{choices: 1, tokenIDs: -1}},
		{"role with null content", `{"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}]}`, chunk{choices: 1, tokenIDs: -1}},
		{"completions with ids", `{"choices":[{"text":"(","token_ids":[11, 12],"finish_reason":"length"}]}`,
			chunk{choices: 1, content: []byte("("), answer: true, tokenIDs: 2, finish: []byte("length")}},
		{"empty ids", `{"choices":[{"text":"","token_ids":[ ]}]}`, chunk{choices: 1, tokenIDs: 0}},
		{"usage only", `{"choices":[],"usage":{"completion_tokens":4,"prompt_tokens":32,"prompt_tokens_details":{"cached_tokens":31}}}`,
			chunk{tokenIDs: -1, usage: true, output: 4, input: 32, cached: 31}},
		{"usage null", `{"choices":[],"usage":null}`, chunk{tokenIDs: -1}},
		{"details null", `{"choices":[],"usage":{"completion_tokens":4,"prompt_tokens_details":null}}`, chunk{tokenIDs: -1, usage: true, output: 4}},
		{"reasoning", `{"choices":[{"delta":{"reasoning_content":"so"}}]}`, chunk{choices: 1, tokenIDs: -1, reasoning: true}},
		{"reasoning, new name", `{"choices":[{"delta":{"reasoning":"so","content":null}}]}`, chunk{choices: 1, tokenIDs: -1, reasoning: true}},
		{"tool call opens", `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"ls","arguments":""}}]}}]}`,
			chunk{choices: 1, tokenIDs: -1, answer: true}},
		{"tool call goes on", `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a"}}]}}]}`, chunk{choices: 1, tokenIDs: -1, answer: true}},
		{"tool call without text", `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":null,"arguments":""}}]}}]}`, chunk{choices: 1, tokenIDs: -1}},
		{"no tool calls", `{"choices":[{"delta":{"tool_calls":[]}}]}`, chunk{choices: 1, tokenIDs: -1}},
		{"spaces", ` { "id" : "x" , "choices" : [ { "delta" : { "content" : "a" } } ] } `, chunk{id: []byte("x"), choices: 1, content: []byte("a"), answer: true, tokenIDs: -1}},
		{"escapes", `{"choices":[{"delta":{"content":"a\"content\":\"b\\"}}]}`, chunk{choices: 1, content: []byte(`a\"content\":\"b\\`), answer: true, tokenIDs: -1}},
		{"keys inside texts", `{"x":"\"error\":1,\"usage\":{\"completion_tokens\":9}","choices":[]}`, chunk{tokenIDs: -1}},
		{"keys at other depths", `{"metrics":{"error":"x","usage":{"completion_tokens":7}},"choices":[{"error":1,"delta":{"id":"q"}}]}`, chunk{choices: 1, tokenIDs: -1}},
		{"error object at the end", `{"id":"a","choices":[],"error":{"message":"dead","code":500}}`, chunk{id: []byte("a"), tokenIDs: -1, failure: []byte(`{"message":"dead","code":500}`)}},
		{"error text", `{"error":"Unauthorized"}`, chunk{tokenIDs: -1, failure: []byte(`"Unauthorized"`)}},
		{"error null", `{"error":null,"choices":[]}`, chunk{tokenIDs: -1}},
		{"error by object", `{"object":"error","message":"dead"}`, chunk{tokenIDs: -1, failure: []byte(`{"object":"error","message":"dead"}`)}},
		{"progress", `{"choices":[{"text":""}],"prompt_progress":{"total":5,"cache":4,"processed":4,"time_ms":0}}`, chunk{choices: 1, tokenIDs: -1}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.want.valid = true
			if c.want.input == 0 {
				c.want.input = record.Never
			}
			if c.want.cached == 0 {
				c.want.cached = record.Never
			}
			if diff := cmp.Diff(c.want, scan(c.json), cmp.AllowUnexported(chunk{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBrokenChunks(t *testing.T) {
	whole := []byte(vllmChunk)
	for i := range whole {
		if c := scan(string(whole[:i])); c.valid {
			t.Errorf("%q counts as whole", whole[:i])
		}
	}
	for _, s := range []string{"", "null", "[]", `"x"`, "{}}", `{"a"}`, `{"a":}`, `{"a":1,}`, `{,"a":1}`, `{"choices":[,]}`, `{"choices":[{}{}]}`, `{a:1}`, "{}x"} {
		if scan(s).valid {
			t.Errorf("%q counts as a JSON object", s)
		}
	}
}

// plain is the same chunk read by encoding/json.
type plain struct {
	ID      string `json:"id"`
	Choices []struct {
		Delta struct {
			Content   *string `json:"content"`
			Reasoning *string `json:"reasoning_content"`
		} `json:"delta"`
		Finish   *string `json:"finish_reason"`
		TokenIDs []int   `json:"token_ids"`
	} `json:"choices"`
	Usage *struct {
		Output  *int64 `json:"completion_tokens"`
		Input   *int64 `json:"prompt_tokens"`
		Details *struct {
			Cached *int64 `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
	Error any `json:"error"`
}

// random makes a chunk document with members in any order, odd texts and unknown members.
func random(rng *rand.Rand) map[string]any {
	texts := []string{"", "a", "é🙂", `"}],{\`, "\\\"", "line\n\ttab", "\u2028", `"content":"x"`}
	text := func() any { return texts[rng.IntN(len(texts))] }
	maybe := func(v any) any {
		if rng.IntN(3) == 0 {
			return nil
		}
		return v
	}
	junk := map[string]any{"k" + fmt.Sprint(rng.IntN(9)): []any{1.5e-7, true, nil, text(), map[string]any{"error": 1, "usage": map[string]any{}}}}
	doc := map[string]any{"id": "id-" + fmt.Sprint(rng.Int()), "zz": junk, "aa": text(), "usage": maybe(map[string]any{
		"completion_tokens": rng.IntN(1e6), "prompt_tokens": rng.IntN(1e6), "x": junk, "prompt_tokens_details": maybe(map[string]any{"cached_tokens": rng.IntN(99)}),
	})}
	var choices []any
	for range rng.IntN(3) {
		ids := make([]int, 1+rng.IntN(4))
		choices = append(choices, map[string]any{"index": 0, "delta": map[string]any{"content": maybe(text()), "reasoning_content": maybe(text()), "b": junk},
			"finish_reason": maybe("stop"), "logprobs": junk, "token_ids": maybe(ids)})
	}
	doc["choices"] = append([]any{}, choices...)
	if rng.IntN(4) == 0 {
		doc["error"] = maybe(map[string]any{"message": text()})
	}
	return doc
}

// TestSameAsEncodingJSON compares the one-pass scanner with the library on a thousand documents in both spacings.
func TestSameAsEncodingJSON(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		b, err := json.Marshal(random(rng))
		if err != nil {
			t.Fatal(err)
		}
		var wide bytes.Buffer
		if err := json.Indent(&wide, b, " ", "\t "); err != nil {
			t.Fatal(err)
		}
		for _, doc := range [][]byte{b, wide.Bytes()} {
			compare(t, doc)
		}
	}
}

func compare(t *testing.T, doc []byte) {
	t.Helper()
	var p plain
	if err := json.Unmarshal(doc, &p); err != nil {
		t.Fatal(err)
	}
	c := scan(string(doc))
	want := chunk{valid: true, id: []byte(p.ID), choices: len(p.Choices), tokenIDs: -1, input: record.Never, cached: record.Never, failure: c.failure, content: c.content}
	var content string
	for _, ch := range p.Choices {
		if text := ch.Delta.Content; text != nil && *text != "" {
			want.answer = true
			if content == "" {
				content = *text
			}
		}
		want.reasoning = want.reasoning || ch.Delta.Reasoning != nil && *ch.Delta.Reasoning != ""
		if ch.Finish != nil {
			want.finish = []byte(*ch.Finish)
		}
		if ch.TokenIDs != nil {
			want.tokenIDs = max(want.tokenIDs, len(ch.TokenIDs))
		}
	}
	if u := p.Usage; u != nil {
		want.usage, want.output, want.input = true, *u.Output, *u.Input
		if u.Details != nil {
			want.cached = *u.Details.Cached
		}
	}
	if diff := cmp.Diff(want, c, cmp.AllowUnexported(chunk{})); diff != "" {
		t.Fatalf("%s\n%s", doc, diff)
	}
	if (p.Error != nil) != (c.failure != nil) {
		t.Fatalf("%s: error %v, scanner says %q", doc, p.Error, c.failure)
	}
	var text string
	if err := json.Unmarshal([]byte(`"`+string(c.content)+`"`), &text); err != nil || text != content {
		t.Fatalf("%s: content %q, the scanner's %q, %v", doc, content, text, err)
	}
}

// FuzzChunk holds that whatever the library takes for an object, the scanner takes too, and that it never leaves its bytes.
func FuzzChunk(f *testing.F) {
	f.Add([]byte(vllmChunk))
	f.Add([]byte(`{"error":{"message":"x"},"choices":[{"delta":{"tool_calls":[{"function":{"name":"\\"}}]}}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := scan(string(b))
		if trimmed := bytes.TrimLeft(b, " \t\r\n"); json.Valid(b) && len(trimmed) > 0 && trimmed[0] == '{' && !c.valid {
			t.Errorf("%q is an object, the scanner denies it", b)
		}
	})
}

func TestChunksAllocateNothing(t *testing.T) {
	var c chunk
	b := []byte(vllmChunk)
	if n := testing.AllocsPerRun(100, func() { parseChunk(b, &c) }); n != 0 {
		t.Errorf("%v allocations a chunk", n)
	}
}

func BenchmarkChunk(b *testing.B) {
	var c chunk
	doc := []byte(vllmChunk)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		parseChunk(doc, &c)
	}
}
