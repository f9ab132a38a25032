package chunk

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

func scan(s string) Chunk {
	var c Chunk
	Parse([]byte(s), &c)
	return c
}

func TestChunks(t *testing.T) {
	cases := []struct {
		name, json string
		want       Chunk
	}{
		{"vLLM chat token", vllmChunk, Chunk{ID: []byte("chatcmpl-8202af01"), Choices: 1, Content: []byte(" counts"), Answer: true, IDs: -1,
			Usage: true, Output: 1, Input: 4}},
		{"role with empty content", `{"choices":[{"delta":{"role":"assistant","content":""},"finish_reason":null}]}`, Chunk{Choices: 1, IDs: -1}},
		{"role with null content", `{"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}]}`, Chunk{Choices: 1, IDs: -1}},
		{"completions with ids", `{"choices":[{"text":"(","token_ids":[11, 12],"finish_reason":"length"}]}`,
			Chunk{Choices: 1, Content: []byte("("), Answer: true, IDs: 2, Finish: []byte("length")}},
		{"empty ids", `{"choices":[{"text":"","token_ids":[ ]}]}`, Chunk{Choices: 1, IDs: 0}},
		{"usage only", `{"choices":[],"usage":{"completion_tokens":4,"prompt_tokens":32,"prompt_tokens_details":{"cached_tokens":31}}}`,
			Chunk{IDs: -1, Usage: true, Output: 4, Input: 32, Cached: 31}},
		{"usage null", `{"choices":[],"usage":null}`, Chunk{IDs: -1}},
		{"details null", `{"choices":[],"usage":{"completion_tokens":4,"prompt_tokens_details":null}}`, Chunk{IDs: -1, Usage: true, Output: 4}},
		{"reasoning", `{"choices":[{"delta":{"reasoning_content":"so"}}]}`, Chunk{Choices: 1, IDs: -1, Reasoning: true}},
		{"reasoning, new name", `{"choices":[{"delta":{"reasoning":"so","content":null}}]}`, Chunk{Choices: 1, IDs: -1, Reasoning: true}},
		{"tool call opens", `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"ls","arguments":""}}]}}]}`,
			Chunk{Choices: 1, IDs: -1, Answer: true}},
		{"tool call goes on", `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a"}}]}}]}`, Chunk{Choices: 1, IDs: -1, Answer: true}},
		{"tool call without text", `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":null,"arguments":""}}]}}]}`, Chunk{Choices: 1, IDs: -1}},
		{"no tool calls", `{"choices":[{"delta":{"tool_calls":[]}}]}`, Chunk{Choices: 1, IDs: -1}},
		{"spaces", ` { "id" : "x" , "choices" : [ { "delta" : { "content" : "a" } } ] } `, Chunk{ID: []byte("x"), Choices: 1, Content: []byte("a"), Answer: true, IDs: -1}},
		{"escapes", `{"choices":[{"delta":{"content":"a\"content\":\"b\\"}}]}`, Chunk{Choices: 1, Content: []byte(`a\"content\":\"b\\`), Answer: true, IDs: -1}},
		{"keys inside texts", `{"x":"\"error\":1,\"usage\":{\"completion_tokens\":9}","choices":[]}`, Chunk{IDs: -1}},
		{"keys at other depths", `{"metrics":{"error":"x","usage":{"completion_tokens":7}},"choices":[{"error":1,"delta":{"id":"q"}}]}`, Chunk{Choices: 1, IDs: -1}},
		{"error object at the end", `{"id":"a","choices":[],"error":{"message":"dead","code":500}}`, Chunk{ID: []byte("a"), IDs: -1, Failure: []byte(`{"message":"dead","code":500}`)}},
		{"error text", `{"error":"Unauthorized"}`, Chunk{IDs: -1, Failure: []byte(`"Unauthorized"`)}},
		{"error null", `{"error":null,"choices":[]}`, Chunk{IDs: -1}},
		{"error by object", `{"object":"error","message":"dead"}`, Chunk{IDs: -1, Failure: []byte(`{"object":"error","message":"dead"}`)}},
		{"reasoning, third name", `{"choices":[{"delta":{"thinking":"so"}}]}`, Chunk{Choices: 1, IDs: -1, Reasoning: true}},
		{"refusal", `{"choices":[{"delta":{"content":null,"refusal":"no"}}]}`, Chunk{Choices: 1, IDs: -1, Answer: true, Content: []byte("no")}},
		{"function call of old", `{"choices":[{"delta":{"function_call":{"arguments":"{"}}}]}`, Chunk{Choices: 1, IDs: -1, Answer: true}},
		{"content in parts", `{"choices":[{"delta":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}`, Chunk{Choices: 1, IDs: -1, Answer: true, Content: []byte("a")}},
		{"thinking in parts", `{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]}]}}]}`, Chunk{Choices: 1, IDs: -1, Reasoning: true}},
		{"thinking in a part", `{"choices":[{"delta":{"content":[{"type":"thinking","thinking":"a"},null]}}]}`, Chunk{Choices: 1, IDs: -1, Reasoning: true}},
		{"empty parts", `{"choices":[{"delta":{"content":[{"type":"text","text":""},{"type":"thinking","thinking":[]}]}}]}`, Chunk{Choices: 1, IDs: -1}},
		{"two choices", `{"choices":[{"index":0,"text":"a","token_ids":[1]},{"index":1,"text":"b","token_ids":[2,3],"finish_reason":"stop"}]}`,
			Chunk{Choices: 2, Content: []byte("a"), Answer: true, IDs: 3, Finish: []byte("stop")}},
		{"log probabilities of a chat", `{"choices":[{"delta":{"content":"ab"},"logprobs":{"content":[{"token":"a","top_logprobs":[{"token":"x"}]},{"token":"b","bytes":[1,2]}]}}]}`,
			Chunk{Choices: 1, Content: []byte("ab"), Answer: true, IDs: 2}},
		{"log probabilities of completions", `{"choices":[{"text":"ab","logprobs":{"tokens":["a","b"],"token_logprobs":[-1,-2]}}]}`, Chunk{Choices: 1, Content: []byte("ab"), Answer: true, IDs: 2}},
		{"ids before log probabilities", `{"choices":[{"text":"ab","logprobs":{"tokens":["a","b"]},"token_ids":[1,2,3]}]}`, Chunk{Choices: 1, Content: []byte("ab"), Answer: true, IDs: 3}},
		{"timings of a token", `{"choices":[{"delta":{"content":"a"}}],"timings":{"cache_n":31,"prompt_n":1,"prompt_ms":9.9,"predicted_n":3,"predicted_ms":0.5}}`,
			Chunk{Choices: 1, Content: []byte("a"), Answer: true, IDs: -1, Usage: true, Output: 3, Input: 32, Cached: 31}},
		{"timings beside a usage", `{"choices":[],"timings":{"cache_n":0,"prompt_n":5,"predicted_n":4},"usage":{"completion_tokens":5,"prompt_tokens":6}}`,
			Chunk{IDs: -1, Usage: true, Output: 5, Input: 6}},
		{"timings null", `{"choices":[],"timings":null}`, Chunk{IDs: -1}},
		{"hidden reasoning", `{"choices":[],"usage":{"completion_tokens":40,"prompt_tokens":6,"completion_tokens_details":{"reasoning_tokens":30,"audio_tokens":0}}}`,
			Chunk{IDs: -1, Usage: true, Output: 40, Input: 6, Thought: 30}},
		{"reasoning beside the counts", `{"choices":[],"usage":{"completion_tokens":40,"prompt_tokens":6,"reasoning_tokens":30,"completion_tokens_details":null}}`,
			Chunk{IDs: -1, Usage: true, Output: 40, Input: 6, Thought: 30}},
		{"cache hits by another name", `{"choices":[],"usage":{"completion_tokens":4,"prompt_tokens":6,"prompt_cache_hit_tokens":2}}`, Chunk{IDs: -1, Usage: true, Output: 4, Input: 6, Cached: 2}},
		{"cache hits beside", `{"choices":[],"meta_info":{"cached_tokens":7,"completion_tokens":9}}`, Chunk{IDs: -1, Cached: 7}},
		{"error without a word", `{"error":{},"choices":[]}`, Chunk{IDs: -1}},
		{"error with its type beside", `{"error":"Request failed during generation","error_type":"generation"}`, Chunk{IDs: -1, Failure: []byte(`"Request failed during generation"`)}},
		{"progress", `{"choices":[{"text":""}],"prompt_progress":{"total":5,"cache":4,"processed":4,"time_ms":0}}`, Chunk{Choices: 1, IDs: -1}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.want.Valid = true
			if c.want.Input == 0 {
				c.want.Input = record.Never
			}
			if c.want.Cached == 0 {
				c.want.Cached = record.Never
			}
			if diff := cmp.Diff(c.want, scan(c.json)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBrokenChunks(t *testing.T) {
	whole := []byte(vllmChunk)
	for i := range whole {
		if c := scan(string(whole[:i])); c.Valid {
			t.Errorf("%q counts as whole", whole[:i])
		}
	}
	for _, s := range []string{"", "null", "[]", `"x"`, "{}}", `{"a"}`, `{"a":}`, `{"a":1,}`, `{,"a":1}`, `{"choices":[,]}`, `{"choices":[{}{}]}`, `{a:1}`, "{}x"} {
		if scan(s).Valid {
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
	want := Chunk{Valid: true, ID: []byte(p.ID), Choices: len(p.Choices), IDs: -1, Input: record.Never, Cached: record.Never, Failure: c.Failure, Content: c.Content}
	var content string
	for _, ch := range p.Choices {
		if text := ch.Delta.Content; text != nil && *text != "" {
			want.Answer = true
			if content == "" {
				content = *text
			}
		}
		want.Reasoning = want.Reasoning || ch.Delta.Reasoning != nil && *ch.Delta.Reasoning != ""
		if ch.Finish != nil {
			want.Finish = []byte(*ch.Finish)
		}
		if ch.TokenIDs != nil {
			want.IDs = max(want.IDs, 0) + len(ch.TokenIDs)
		}
	}
	if u := p.Usage; u != nil {
		want.Usage, want.Output, want.Input = true, *u.Output, *u.Input
		if u.Details != nil {
			want.Cached = *u.Details.Cached
		}
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Fatalf("%s\n%s", doc, diff)
	}
	if (p.Error != nil) != (c.Failure != nil) {
		t.Fatalf("%s: error %v, scanner says %q", doc, p.Error, c.Failure)
	}
	var text string
	if err := json.Unmarshal([]byte(`"`+string(c.Content)+`"`), &text); err != nil || text != content {
		t.Fatalf("%s: content %q, the scanner's %q, %v", doc, content, text, err)
	}
}

// FuzzChunk holds that whatever the library takes for an object, the scanner takes too, and that it never leaves its bytes.
func FuzzChunk(f *testing.F) {
	f.Add([]byte(vllmChunk))
	f.Add([]byte(`{"error":{"message":"x"},"choices":[{"delta":{"tool_calls":[{"function":{"name":"\\"}}]}}]}`))
	f.Add([]byte(`{"choices":[{"delta":{"content":[{"thinking":[{"text":"a"}]},{"text":"b"},1]},"logprobs":{"content":[{"token":"a"}]}}],"timings":{"predicted_n":1}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := scan(string(b))
		if trimmed := bytes.TrimLeft(b, " \t\r\n"); json.Valid(b) && len(trimmed) > 0 && trimmed[0] == '{' && !c.Valid {
			t.Errorf("%q is an object, the scanner denies it", b)
		}
	})
}

func TestChunksAllocateNothing(t *testing.T) {
	var c Chunk
	b := []byte(vllmChunk)
	if n := testing.AllocsPerRun(100, func() { Parse(b, &c) }); n != 0 {
		t.Errorf("%v allocations a chunk", n)
	}
}

func BenchmarkChunk(b *testing.B) {
	var c Chunk
	doc := []byte(vllmChunk)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		Parse(doc, &c)
	}
}
