package dataset

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const session = `{"_type":"dataset_metadata","conversation_id":"c-1"}
{"conversation_id":"c-1","turn":1,"role":"user","system":"You fix bugs.","content":"Run the tests","tools":[{"type":"function","function":{"name":"bash","parameters":{"type":"object"}}}],"max_completion_tokens":512}
{"conversation_id":"c-1","turn":2,"role":"assistant","reasoning_content":"need a run","tool_calls":[{"id":"k1","type":"function","function":{"name":"bash","arguments":{"cmd": "pytest -q"}}}]}
{"conversation_id":"c-1","turn":3,"role":"tool","tool_results":[{"tool_call_id":"k1","content":"1 failed"},{"tool_call_id":"k2","content":"more"}],"delay_seconds":2.5}
{"conversation_id":"c-1","turn":4,"role":"user","content":"And now?","max_new_tokens":40}
{"conversation_id":"c-1","turn":5,"role":"assistant","content":"One test fails."}
{"conversation_id":"c-2","turn":1,"role":"user","content":"hi"}
`

func TestAgentic(t *testing.T) {
	s := open(t, Config{Kind: "agentic", Path: write(t, "a.jsonl", session), ToolDelay: true, Strict: true})
	call := json.RawMessage(`[{"id":"k1","type":"function","function":{"name":"bash","arguments":"{\"cmd\":\"pytest -q\"}"}}]`)
	want := []Conversation{
		{ID: "c-1", Tools: json.RawMessage(`[{"type":"function","function":{"name":"bash","parameters":{"type":"object"}}}]`), Turns: []Turn{
			{
				Messages: []Message{{Role: "system", Content: "You fix bugs."}, {Role: "user", Content: "Run the tests"}}, MaxTokens: 512,
				Reply: `bash {"cmd":"pytest -q"}`, Script: []Message{{Role: "assistant", ReasoningContent: "need a run", ToolCalls: call}},
			},
			{
				Messages: []Message{{Role: "tool", Content: "1 failed", ToolCallID: "k1"}, {Role: "tool", Content: "more", ToolCallID: "k2"}},
				Wait:     2500 * time.Millisecond, MaxTokens: 512, Script: []Message{},
			},
			{Messages: user("And now?"), MaxTokens: 40, Reply: "One test fails.", Script: []Message{{Role: "assistant", Content: "One test fails."}}},
		}},
		{ID: "c-2", Turns: []Turn{{Messages: user("hi"), Script: []Message{}}}},
	}
	if diff := cmp.Diff(want, take(t, s, 2)); diff != "" {
		t.Error(diff)
	}
	without := open(t, Config{Kind: "agentic", Path: write(t, "a.jsonl", session), MaxTokens: 100})
	c := take(t, without, 1)[0]
	if c.Turns[1].Wait != 0 || c.Turns[0].MaxTokens != 100 || c.Turns[2].MaxTokens != 40 {
		t.Errorf("%+v", c.Turns)
	}
}

// TestAgenticOneResult: a tool row may have its one result as a chat's message has it.
func TestAgenticOneResult(t *testing.T) {
	s := open(t, Config{Kind: "agentic", Strict: true, Path: write(t, "a.jsonl", `{"conversation_id":"b","turn":1,"role":"user","content":"x"}
{"conversation_id":"b","turn":2,"role":"assistant","tool_calls":[{"id":"k","function":{"name":"f","arguments":"{}"}}]}
{"conversation_id":"b","turn":3,"role":"tool","tool_call_id":"k","content":"done"}`)})
	want := []Message{{Role: "tool", Content: "done", ToolCallID: "k"}}
	if diff := cmp.Diff(want, take(t, s, 1)[0].Turns[1].Messages); diff != "" {
		t.Error(diff)
	}
}

// TestAgenticRules breaks one rule in the middle one of three conversations: it alone is left out, and the line is named.
func TestAgenticRules(t *testing.T) {
	const good = `{"conversation_id":"%","turn":1,"role":"user","content":"hi"}`
	for name, rows := range map[string]string{
		"no JSON":            `{"conversation_id":"b","turn":1`,
		"turn from 2":        `{"conversation_id":"b","turn":2,"role":"user","content":"x"}`,
		"turn with a gap":    `{"conversation_id":"b","turn":1,"role":"user","content":"x"}|{"conversation_id":"b","turn":3,"role":"assistant","content":"x"}`,
		"assistant first":    `{"conversation_id":"b","turn":1,"role":"assistant","content":"x"}`,
		"user after user":    `{"conversation_id":"b","turn":1,"role":"user","content":"x"}|{"conversation_id":"b","turn":2,"role":"user","content":"x"}`,
		"tool without calls": `{"conversation_id":"b","turn":1,"role":"user","content":"x"}|{"conversation_id":"b","turn":2,"role":"assistant","content":"x"}|{"conversation_id":"b","turn":3,"role":"tool","tool_results":[{"tool_call_id":"k","content":""}]}`,
		"user after calls":   `{"conversation_id":"b","turn":1,"role":"user","content":"x"}|{"conversation_id":"b","turn":2,"role":"assistant","tool_calls":[{"id":"k","function":{"name":"f","arguments":"{}"}}]}|{"conversation_id":"b","turn":3,"role":"user","content":"x"}`,
		"unknown role":       `{"conversation_id":"b","turn":1,"role":"critic","content":"x"}`,
		"empty user":         `{"conversation_id":"b","turn":1,"role":"user","content":""}`,
		"empty assistant":    `{"conversation_id":"b","turn":1,"role":"user","content":"x"}|{"conversation_id":"b","turn":2,"role":"assistant"}`,
		"call without id":    `{"conversation_id":"b","turn":1,"role":"user","content":"x"}|{"conversation_id":"b","turn":2,"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}`,
		"negative delay":     `{"conversation_id":"b","turn":1,"role":"user","content":"x","delay_seconds":-1}`,
		"id for no header":   `{"conversation_id":"b\u00e9","turn":1,"role":"user","content":"x"}`,
		"seen before":        `{"conversation_id":"a","turn":1,"role":"user","content":"x"}|{"conversation_id":"a","turn":2,"role":"assistant","content":"x"}`,
	} {
		t.Run(name, func(t *testing.T) {
			rows := strings.Split(rows, "|")
			first, last := strings.ReplaceAll(good, "%", "a"), strings.ReplaceAll(good, "%", "z")
			if name == "seen before" {
				first += "\n" + strings.ReplaceAll(good, "%", "y")
			}
			path := write(t, "a.jsonl", first+"\n"+strings.Join(rows, "\n")+"\n"+last+"\n")
			s := open(t, Config{Kind: "agentic", Path: path})
			var ids []string
			for s.Stats().Repeats == 0 {
				ids = append(ids, take(t, s, 1)[0].ID)
			}
			ids = ids[:len(ids)-1] // of the second pass
			if name == "no JSON" {
				ids = append([]string{"a"}, ids...) // a broken line costs the conversation before it as well: it may have been its row
			}
			if len(ids) < 2 || ids[0] != "a" || ids[len(ids)-1] != "z" || s.Stats().BadLines != 1 || !strings.HasPrefix(s.Stats().BadFirst[0], "line ") {
				t.Errorf("%v %+v", ids, s.Stats())
			}
		})
	}
}

// TestAgenticTwiceDamaged: a conversation's second damaged line is one bad line more, and the rows behind it are none.
func TestAgenticTwiceDamaged(t *testing.T) {
	const user, said = `{"conversation_id":"b","turn":%d,"role":"user","content":"x"}`, `{"conversation_id":"b","turn":%d,"role":"assistant","content":"x"}`
	for name, damaged := range map[string]string{"no JSON": `{"conversation_id":"b","tu`, "no conversation": `{"turn":5}`} {
		rows := []string{
			`{"conversation_id":"a","turn":1,"role":"user","content":"x"}`, fmt.Sprintf(user, 1), fmt.Sprintf(said, 2), damaged, fmt.Sprintf(said, 4),
			damaged, fmt.Sprintf(said, 6), `{"conversation_id":"z","turn":1,"role":"user","content":"x"}`,
		}
		s := open(t, Config{Kind: "agentic", Path: write(t, "a.jsonl", strings.Join(rows, "\n"))})
		got := take(t, s, 3)
		if ids := []string{got[0].ID, got[1].ID}; ids[0] != "a" || ids[1] != "z" || s.Stats().BadLines != 2 {
			t.Errorf("%s: %v %+v", name, ids, s.Stats())
		}
	}
}
