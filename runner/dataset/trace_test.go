package dataset

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// shape is what a trace says of a request.
type shape struct {
	ID     string
	At     time.Duration
	Prompt int
	Words  int
	Output int
}

func shapes(t *testing.T, s Source, n int) []shape {
	t.Helper()
	var list []shape
	for _, c := range take(t, s, n) {
		list = append(list, shape{c.ID, c.At, c.Prompt, len(words(c)), c.Turns[0].MaxTokens})
	}
	return list
}

func words(c Conversation) []string { return strings.Fields(c.Turns[0].Messages[0].Content) }

const mooncake = `{"timestamp": 1000, "input_length": 1100, "output_length": 40, "hash_ids": [7, 8, 9]}
{"timestamp": 1350, "input_length": 1500, "output_length": 25, "hash_ids": [7, 8, 12]}

{"timestamp": 3100, "input_length": 500, "output_length": 60, "hash_ids": [13]}
{"timestamp": 3000, "input_length": 20, "output_length": 1}
`

// TestTrace: equal blocks have equal text from the front of the prompt on, blocks end where they ended, lengths and instants are the
// recorded ones, and the second pass follows the first in time.
func TestTrace(t *testing.T) {
	v := Words()
	v.Overhead, v.Counted = 12, true
	s := open(t, Config{Kind: "trace", Path: write(t, "t.jsonl", mooncake), Seed: 3, MaxTokens: 30, Vocabulary: v, Strict: true})
	all := take(t, s, 4)
	want := []shape{{"trace-1", 0, 1, 1088, 40}, {"trace-2", 350 * time.Millisecond, 1, 1488, 25}, {"trace-5", 2 * time.Second, 0, 8, 1}, {"trace-4", 2100 * time.Millisecond, 1, 488, 60}}
	for i, c := range all {
		if got := (shape{c.ID, c.At, c.Prompt, len(words(c)), c.Turns[0].MaxTokens}); got != want[i] {
			t.Errorf("%+v, want %+v", got, want[i])
		}
		if c.Turns[0].InputTokens != want[i].Words+12 {
			t.Errorf("%s should have %d tokens", c.ID, c.Turns[0].InputTokens)
		}
	}
	a, b, own := words(all[0]), words(all[1]), words(all[3])
	if !cmp.Equal(a[:1012], b[:1012]) || cmp.Equal(a[1012:1024], b[1012:1024]) || cmp.Equal(a[:488], own) {
		t.Error("what two requests shared is not what they share")
	}
	again := take(t, s, 1)[0]
	if again.ID != "trace-1__repeat_1" || again.Repeat != 1 || again.At != 2800*time.Millisecond || !cmp.Equal(words(again), a) {
		t.Errorf("the second pass begins with %s at %v", again.ID, again.At)
	}
	if diff := cmp.Diff(all, take(t, open(t, Config{Kind: "trace", Path: write(t, "t.jsonl", mooncake), Seed: 3, Vocabulary: v}), 4)); diff != "" {
		t.Error("not the same again:", diff)
	}
}

// TestTraceOfTinyRows: a row that is shorter than template and salt has the shortest prompt there is, is held against no length, and is told.
func TestTraceOfTinyRows(t *testing.T) {
	v := Words()
	v.Overhead, v.Counted = 30, true
	s := open(t, Config{Kind: "trace", Vocabulary: v, Path: write(t, "t.jsonl", `{"timestamp":0,"input_length":30,"output_length":1}
{"timestamp":1,"input_length":31,"output_length":1}`)})
	list := take(t, s, 2)
	if n := s.Stats().Notes; len(words(list[0])) != 1 || list[0].Turns[0].InputTokens != 0 || list[1].Turns[0].InputTokens != 31 ||
		len(n) != 1 || n[0] != "1 rows of the trace are shorter than the 31 tokens that every prompt has at least" {
		t.Errorf("%+v %q", list, n)
	}
	told := s.Stats().Notes
	if take(t, s, 3); !cmp.Equal(s.Stats().Notes, told) {
		t.Errorf("in the second pass %q is told", s.Stats().Notes)
	}
}

func TestTraceBlockSize(t *testing.T) {
	for block, row := range map[int]string{16: `[1,2,3]`, 64: `["x","y","z"]`} {
		text := fmt.Sprintf("{\"timestamp\":0,\"input_length\":%d,\"output_length\":5,\"hash_ids\":%s}\n", 3*block-5, row)
		text += strings.NewReplacer("3]", "4]", `"z"`, `"u"`).Replace(text)
		all := take(t, open(t, Config{Kind: "trace", Path: write(t, "t.jsonl", text)}), 2)
		if a, b := words(all[0]), words(all[1]); len(a) != 3*block-5 || !cmp.Equal(a[:2*block], b[:2*block]) {
			t.Errorf("block %d: %d words", block, len(a))
		}
	}
}

func TestTraceCSV(t *testing.T) {
	for name, text := range map[string]string{
		"Azure":     "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-02-01 08:00:00.0000000,310,45\r\n2024-02-01 08:00:02.2500000,1200,210\n",
		"with zone": "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-02-01 08:00:00.000000+00:00 , 310 , 45\n2024-02-01T08:00:02.25Z,1200,210\n",
		"BurstGPT":  "\xef\xbb\xbfTimestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,310,45,355,Conversation log\n7.25,GPT-4,1200,210,1410,API log\n",
	} {
		s := open(t, Config{Kind: "trace", Path: write(t, "t.csv", text), Strict: true})
		want := []shape{{"trace-2", 0, 0, 310, 45}, {"trace-3", 2250 * time.Millisecond, 0, 1200, 210}, {"trace-2__repeat_1", 4500 * time.Millisecond, 0, 310, 45}}
		if diff := cmp.Diff(want, shapes(t, s, 3)); diff != "" {
			t.Error(name, diff)
		}
	}
}

func TestTraceOwnText(t *testing.T) {
	s := open(t, Config{Kind: "trace", Strict: true, Path: write(t, "t.jsonl", `{"timestamp":5,"text_input":"one two","output_length":4}
{"timestamp":6.5,"messages":[{"role":"user","content":"three"}],"max_tokens":9}`)})
	want := []shape{{"trace-1", 0, 0, 2, 4}, {"trace-2", 1500 * time.Microsecond, 0, 1, 9}}
	if diff := cmp.Diff(want, shapes(t, s, 2)); diff != "" {
		t.Error(diff)
	}
}

// TestTraceRules: rows that cannot be replayed are left out and named.
func TestTraceRules(t *testing.T) {
	for row, want := range map[string]string{
		`{"input_length":5,"output_length":5}`:                "no timestamp",
		`{"timestamp":1,"output_length":5}`:                   "want input_length",
		`{"timestamp":1e300,"input_length":5}`:                "timestamp 1e+300",
		`{"timestamp":1,"input_length":-5}`:                   "lengths of -5",
		`{"timestamp":1,"input_length":99999999}`:             "lengths of 99999999",
		`{"timestamp":1,"input_length":5,"output_length":0}`:  "an answer of 0 tokens at most",
		`{"timestamp":1,"input_length":5,"output_length":-1}`: "an answer of -1 tokens at most",
		`{"timestamp":1,`:                                     "unexpected end",
	} {
		s := open(t, Config{Kind: "trace", Path: write(t, "t.jsonl", `{"timestamp":1,"input_length":5}`+"\n"+row+"\n")})
		take(t, s, 2)
		if st := s.Stats(); st.BadLines != 1 || !strings.HasPrefix(st.BadFirst[0], "line 2: ") || !strings.Contains(st.BadFirst[0], want) {
			t.Errorf("%s: %+v", row, st)
		}
	}
	for text, want := range map[string]string{
		"a,b\n1,2\n": "neither JSON nor a header", "TIMESTAMP,ContextTokens,GeneratedTokens\nnoon,5,5\n": `timestamp "noon"`,
		"TIMESTAMP,ContextTokens,GeneratedTokens\n1,0,5\n": "lengths of 0 and 5", "TIMESTAMP,ContextTokens,GeneratedTokens\n1,5,0\n": "lengths of 5 and 0",
		"TIMESTAMP,ContextTokens,GeneratedTokens\n1,5\n":    "2 fields",
		"TIMESTAMP,ContextTokens,GeneratedTokens\n1,5,\"\n": "quote",
	} {
		if _, err := Open(t.Context(), Config{Kind: "trace", Path: write(t, "t.csv", text)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestTraceOrder: rows a little out of order are sorted; one that is far too late is named.
func TestTraceOrder(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		at := i
		switch i {
		case 10:
			at = 300
		case 2999:
			at = 5
		}
		fmt.Fprintf(&b, "{\"timestamp\":%d,\"input_length\":1,\"output_length\":1}\n", at)
	}
	s := open(t, Config{Kind: "trace", Path: write(t, "t.jsonl", b.String())})
	var last time.Duration
	for _, c := range take(t, s, 2999) {
		if c.At < last || c.Repeat > 0 {
			t.Fatalf("%s at %v after %v", c.ID, c.At, last)
		}
		last = c.At
	}
	take(t, s, 1)
	if st := s.Stats(); st.BadLines != 1 || !strings.HasPrefix(st.BadFirst[0], "line 3000: its instant is before") {
		t.Errorf("%+v", st)
	}
}
