package load

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"assay/runner/dataset"
	"assay/runner/load/stream"
	"assay/runner/record"
)

// TestScriptedToolCalls: a scripted answer stands in the history as it is, tool calls and all, whatever the server said, and the
// tools are sent with each turn.
func TestScriptedToolCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		call := json.RawMessage(`[{"id":"c1","type":"function","function":{"name":"shell","arguments":"{}"}}]`)
		src := &scripted{dataset.Conversation{ID: "c", Tools: json.RawMessage(`[{"type":"function","function":{"name":"shell"}}]`), Turns: []dataset.Turn{
			{Messages: []dataset.Message{{Role: "user", Content: "look"}}, Reply: "for people", Script: []dataset.Message{{Role: "assistant", ToolCalls: call}}},
			{Messages: []dataset.Message{{Role: "tool", Content: "seen", ToolCallID: "c1"}}, Script: []dataset.Message{}},
			{Messages: []dataset.Message{{Role: "user", Content: "more"}}},
		}}}
		s := &stage{src: src, cfg: Config{Closed: &Closed{Concurrency: 1, Requests: 3}, Drain: time.Minute}, reply: func(c *stream.Call) (time.Duration, record.Outcome) {
			if c.WantReply {
				t.Errorf("turn %d wants a reply that is scripted", c.Turn)
			}
			return time.Second, record.OK
		}}
		if _, err := s.run(t.Context(), t); err != nil || len(s.bodies) != 3 {
			t.Fatalf("%d requests, %v", len(s.bodies), err)
		}
		tools := `"tools":[{"type":"function","function":{"name":"shell"}}]`
		history := `[{"role":"user","content":"look"},{"role":"assistant","content":"","tool_calls":` + string(call) + `},{"role":"tool","content":"seen","tool_call_id":"c1"}`
		for i, want := range []string{tools, history + `],` + tools, history + `,{"role":"user","content":"more"}],` + tools} {
			if !strings.Contains(s.bodies[i], want) {
				t.Errorf("turn %d is sent as %s, without %s", i, s.bodies[i], want)
			}
		}
	})
}

// scripted gives one conversation again and again.
type scripted struct{ c dataset.Conversation }

func (s *scripted) Next() (dataset.Conversation, error) { return s.c, nil }
func (s *scripted) Stats() dataset.Stats                { return dataset.Stats{} }
