package dataset

import (
	"strings"
	"testing"

	"assay/fault"
)

// TestUselessDataSaysWhatToDo: each text says what is wrong in the data's own words, and each hint fits it.
func TestUselessDataSaysWhatToDo(t *testing.T) {
	for _, c := range []struct{ name, kind, data, text, hint string }{
		{"a number for a text", "jsonl", `{"prompt": 7}`, "line 1: prompt is a number, not a text", "kind jsonl"},
		{"a text for messages", "jsonl", `{"messages": "hi"}`, "line 1: messages is a text, not a list", "kind jsonl"},
		{"a list for a record", "jsonl", `[1]`, "line 1: the record is a list, not an object", "kind jsonl"},
		{"no answer", "jsonl", `{"prompt": "a", "max_tokens": 0}`, "an answer of 0 tokens at most", "kind jsonl"},
		{"a negative answer", "jsonl", `{"prompt": "a", "max_tokens": -1}`, "an answer of -1 tokens at most", "kind jsonl"},
		{"no content", "jsonl", `{"messages": [{"role": "user"}]}`, "message 1 has no content", "kind jsonl"},
		{"a conversation of one text", "sharegpt", `[{"conversations": "text"}]`, "conversations is a text, not a list", "kind sharegpt"},
		{"a trace as a list", "trace", "[\n{\"timestamp\": 1, \"input_length\": 5, \"output_length\": 5}\n]", "a trace in JSON is one record a line", "jq -c '.[]'"},
		{"a text for an instant", "trace", `{"timestamp": "x", "input_length": 5}`, "timestamp is a text, not a number", "kind trace"},
		{"UTF-16", "text", "\xff\xfea\x00", "not UTF-8", "iconv"},
		{"a short text", "text", "a b c", "too short", "--input-len"},
		{"an empty file", "text", "", "the file is empty", "a file with data"},
	} {
		_, err := Open(t.Context(), Config{Kind: c.kind, Path: write(t, "data", c.data), InputLen: 9, Cut: CutWords})
		f := fault.Of(err, fault.Client)
		if f == nil {
			t.Errorf("%s: was taken", c.name)
			continue
		}
		if f.Code != "client.dataset_empty" || !strings.Contains(f.Text, c.text) || !strings.Contains(f.Hint, c.hint) || strings.Contains(f.Text, "Go ") {
			t.Errorf("%s: %v, hint %q", c.name, err, f.Hint)
		}
	}
}

// TestEmptyContentThatIsMeant: a tool may answer nothing, and an assistant may only call one.
func TestEmptyContentThatIsMeant(t *testing.T) {
	line := `{"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}, {"role": "tool", "content": "", "tool_call_id": "1"}]}`
	if c := take(t, open(t, Config{Kind: "jsonl", Strict: true, Path: write(t, "a.jsonl", line)}), 1)[0]; len(c.Turns[0].Messages) != 3 {
		t.Errorf("%+v", c)
	}
}
