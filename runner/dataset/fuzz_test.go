package dataset

import (
	"errors"
	"io"
	"testing"
)

// readAll takes one pass over data and checks what every reader promises.
func readAll(t *testing.T, kindName string, data []byte) {
	t.Helper()
	cfg := Config{Kind: kindName, InputLen: 3, ToolDelay: true, Vocabulary: Words()}
	cfg.fillDefaults()
	cfg.Vocabulary.Overhead = longestInput // prompts of one word: their making is not what is looked at
	for _, k := range kinds() {
		if k.name != kindName {
			continue
		}
		r := k.read(origin{name: "fuzz", bytes: data}, cfg)
		defer r.Close()
		for range len(data) + 2 {
			c, err := r.next()
			var bad *badLine
			switch {
			case errors.Is(err, io.EOF):
				return
			case errors.As(err, &bad):
				continue
			case err != nil:
				t.Fatal(err)
			}
			check(t, c)
		}
		t.Fatal("more conversations than bytes")
	}
}

func check(t *testing.T, c Conversation) {
	t.Helper()
	if !printable(c.ID) || len(c.Turns) == 0 {
		t.Fatalf("%+v", c)
	}
	for _, turn := range c.Turns {
		if len(turn.Messages) == 0 || turn.Wait < 0 || c.At < 0 {
			t.Fatalf("%+v", c)
		}
	}
}

func FuzzJSONL(f *testing.F) {
	f.Add([]byte(`{"prompt":"a"}` + "\n" + `{"id":5,"messages":[{"role":"user","content":"x"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) { readAll(t, "jsonl", data) })
}

func FuzzShareGPT(f *testing.F) {
	f.Add([]byte(`[{"id":"a","conversations":[{"from":"human","value":"q"},{"from":"gpt","value":"r"}]}]`))
	f.Add([]byte(`{"conversations":[{"role":"user","content":"q"}]} {}`))
	f.Fuzz(func(t *testing.T, data []byte) { readAll(t, "sharegpt", data) })
}

func FuzzAgentic(f *testing.F) {
	f.Add([]byte(session))
	f.Fuzz(func(t *testing.T, data []byte) { readAll(t, "agentic", data) })
}

func FuzzText(f *testing.F) {
	f.Add([]byte("a b c d e f"))
	f.Add([]byte("x\n*** START OF IT\none two three four\n*** END OF IT\nrest"))
	f.Fuzz(func(t *testing.T, data []byte) { readAll(t, "text", data) })
}

func FuzzTrace(f *testing.F) {
	f.Add([]byte(mooncake))
	f.Add([]byte("TIMESTAMP,ContextTokens,GeneratedTokens\n2024-02-01 08:00:00.000,310,45\n2024-02-01 08:00:02.250,12,2\n"))
	f.Add([]byte(`{"timestamp":1,"prompt":"x"}`))
	f.Fuzz(func(t *testing.T, data []byte) { readAll(t, "trace", data) })
}
