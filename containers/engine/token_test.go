package engine

import (
	"strings"
	"testing"

	"assay/containers/enginetest"
)

// Real streams, byte for byte: what is a token, and what only looks like one.
func TestFirstTokenOfRealStreams(t *testing.T) {
	for name, wantProblem := range map[string]string{
		"llama-chat-stream-usage.http":                    "",
		"llama-completions-stream-nousage.http":           "",
		"llama-maxtok0.http":                              "",
		"vllm-chat-stream-nousage.http":                   "",
		"vllm-completions-stream-usage.http":              "",
		"vllm-completions-tokenprompt-stream.http":        "",
		"sglang-router-chat-stream.http":                  "",
		"vllm-enginecore-died-midstream.http":             "an error: EngineCore encountered an issue. See stack trace (above) for the root cause.",
		"vllm-err-badmodel-stream.http":                   "no token at all",
		"llama-completions-stream-contusage-timings.http": "",
	} {
		if got := FirstToken(strings.NewReader(string(enginetest.CaptureBody(t, name)))); got != wantProblem {
			t.Errorf("%s: %q, want %q", name, got, wantProblem)
		}
	}
}

func TestMessages(t *testing.T) {
	for body, want := range map[string]string{
		`{"error":{"message":"Loading model","code":503}}`: "Loading model",
		`{"error":"Unauthorized"}`:                         "Unauthorized",
		`{"detail":"Not Found"}`:                           "Not Found",
		`{"message":"m"}`:                                  "m",
		`{"detail":[{"loc":1}]}`:                           `{"detail":[{"loc":1}]}`,
		"<html>\n<body>":                                   "<html>",
		"":                                                 "",
	} {
		if got := FirstLine(messageOf([]byte(body))); got != want {
			t.Errorf("messageOf(%q) = %q, want %q", body, got, want)
		}
	}
}

func FuzzFirstToken(f *testing.F) {
	f.Add("data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\ndata: [DONE]\n\n")
	f.Add("data: {\"error\": {\"message\": \"m\"}}\n\n")
	f.Add(":\n\ndata:{}\r\n\r\ndata: nonsense")
	f.Fuzz(func(t *testing.T, s string) {
		if strings.Contains(FirstLine(FirstToken(strings.NewReader(s))), "\n") {
			t.Error("a problem of more than one line")
		}
	})
}

func FuzzMessageOf(f *testing.F) {
	f.Add([]byte(`{"error":{"message":"m"}}`))
	f.Add([]byte("text\nmore"))
	f.Fuzz(func(t *testing.T, b []byte) { messageOf(b) })
}
