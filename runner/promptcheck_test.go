package runner

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/runner/dataset"
	"assay/runner/record"
)

// TestPromptCheck: only measured first turns that the server counted are held against their length, also those of sessions that share a
// prompt.
func TestPromptCheck(t *testing.T) {
	c := newPromptCheck()
	data := dataset.Config{Kind: "synthetic", InputLen: 100}
	for _, id := range []string{"a", "b", "c", "warm", "x#y"} {
		c.expect(dataset.Conversation{ID: id, Turns: []dataset.Turn{{}}}, data)
	}
	c.expect(dataset.Conversation{ID: "own text", Turns: []dataset.Turn{{}}}, dataset.Config{Kind: "trace", InputLen: 512})
	kept := 0
	keep := c.watching(func(record.Request) error { kept++; return nil })
	for _, r := range []record.Request{
		{Session: "a", InputTokens: 100}, {Session: "a", Turn: 1, InputTokens: 900}, {Session: "b", InputTokens: 102}, {Session: "b#2", InputTokens: 5},
		{Session: "warm", InputTokens: 50, Warmup: true}, {Session: "c#2", InputTokens: 94}, {Session: "c#3", InputTokens: 101}, {Session: "x#y", InputTokens: 100},
		{Session: "probe", InputTokens: 9}, {Session: "c#4", InputTokens: record.Never}, {Session: "own text", InputTokens: 9},
	} {
		if err := keep(r); err != nil {
			t.Fatal(err)
		}
	}
	want := Lengths{Way: "ids", Checked: 5, Off: 2, Far: 1, Worst: 0.06}
	if diff := cmp.Diff(want, c.found("ids")); diff != "" || kept != 11 {
		t.Errorf("%d kept, %s", kept, diff)
	}
}
