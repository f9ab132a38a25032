package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"time"
)

// agentic reads the flat JSONL of MLPerf Endpoints' agentic workload: a row per message, the rows of a conversation next to each
// other, its turns counted from 1 without gaps. Each user or tool row is a request; assistant rows are replayed as history, whatever the
// server said. A conversation with a bad row is left out.
type agentic struct {
	lines
	delay bool
	held  *agenticRow // first row of the next conversation
	seen  map[string]bool
	skip  string // conversation whose other rows are passed over
}

func newAgentic(from origin, cfg Config) reader {
	return &agentic{lines: lines{from: from}, delay: cfg.ToolDelay, seen: map[string]bool{}}
}

type agenticRow struct {
	line int

	Type             string          `json:"_type"`
	ConversationID   string          `json:"conversation_id"`
	Turn             int             `json:"turn"`
	Role             string          `json:"role"`
	Content          *string         `json:"content"`
	System           string          `json:"system"`
	ReasoningContent string          `json:"reasoning_content"`
	Tools            json.RawMessage `json:"tools"`
	ToolCalls        []toolCall      `json:"tool_calls"`
	ToolCallID       string          `json:"tool_call_id"`
	ToolResults      []toolResult    `json:"tool_results"`
	DelaySeconds     float64         `json:"delay_seconds"`
	MaxCompletion    int             `json:"max_completion_tokens"`
	MaxNew           int             `json:"max_new_tokens"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

type toolResult struct {
	ToolCallID string `json:"tool_call_id"`
	Content    string `json:"content"`
}

func (r *agentic) next() (Conversation, error) {
	talk := talk{delay: r.delay}
	for {
		row, err := r.row()
		if errors.Is(err, io.EOF) && talk.id != "" {
			return talk.conversation(), nil
		}
		if err != nil {
			return Conversation{}, r.leaveOut(talk.id, err)
		}
		if talk.id != "" && row.ConversationID != talk.id {
			r.held = row
			return talk.conversation(), nil
		}
		if talk.id == "" {
			if err := r.opens(row); err != nil {
				return Conversation{}, r.leaveOut(row.ConversationID, err)
			}
		}
		if err := talk.add(row); err != nil {
			return Conversation{}, r.leaveOut(row.ConversationID, badf("line %d: %v", row.line, err))
		}
	}
}

// opens checks the first row of a conversation.
func (r *agentic) opens(row *agenticRow) error {
	if !printable(row.ConversationID) {
		return badf("line %d: conversation_id is not printable ASCII", row.line)
	}
	if r.seen[row.ConversationID] {
		return badf("line %d: the rows of a conversation are not together", row.line)
	}
	r.seen[row.ConversationID] = true
	return nil
}

// leaveOut names the conversation that a bad line costs and passes over its other rows.
func (r *agentic) leaveOut(id string, err error) error {
	var bad *badLine
	if !errors.As(err, &bad) {
		return err
	}
	if id != "" { // else the line says no conversation, or is one more of that which is passed over
		r.skip = id
		bad.text += fmt.Sprintf("; conversation %q is left out", id)
	}
	return bad
}

// row gives the next row that counts.
func (r *agentic) row() (*agenticRow, error) {
	if row := r.held; row != nil {
		r.held = nil
		return row, nil
	}
	for {
		line, err := r.lines.next()
		if err != nil {
			return nil, err
		}
		row := agenticRow{line: r.number}
		if err := json.Unmarshal(line, &row); err != nil {
			return nil, badf("line %d: %v", r.number, plainly(err))
		}
		switch {
		case row.Type == "dataset_metadata":
		case row.ConversationID == "":
			return nil, badf("line %d: no conversation_id", r.number)
		case row.ConversationID != r.skip:
			r.skip = ""
			return &row, nil
		}
	}
}

// talk is a conversation that is being put together.
type talk struct {
	id     string
	delay  bool
	last   agenticRow
	turns  []Turn
	system string
	tools  json.RawMessage
	limit  int // of the first user row, for the turns that set none
}

func (t *talk) add(row *agenticRow) error {
	if row.Turn != t.last.Turn+1 {
		return fmt.Errorf("turn %d follows turn %d", row.Turn, t.last.Turn)
	}
	if row.DelaySeconds < 0 || row.DelaySeconds > math.MaxInt32 || math.IsNaN(row.DelaySeconds) {
		return fmt.Errorf("delay_seconds %v", row.DelaySeconds)
	}
	if err := t.follows(row); err != nil {
		return err
	}
	if t.system == "" {
		t.system = row.System
	}
	var err error
	switch row.Role {
	case "user":
		err = t.user(row)
	case "assistant":
		err = t.assistant(row)
	case "tool":
		err = t.tool(row)
	}
	t.id, t.last = row.ConversationID, *row
	return err
}

// follows checks the order of roles: user or tool, then assistant; a tool row only after calls, a user row never after calls.
func (t *talk) follows(row *agenticRow) error {
	calls := t.last.Role == "assistant" && len(t.last.ToolCalls) > 0
	ok := false
	switch row.Role {
	case "user":
		ok = t.last.Role == "" || t.last.Role == "tool" || t.last.Role == "assistant" && !calls
	case "assistant":
		ok = t.last.Role == "user" || t.last.Role == "tool"
	case "tool":
		ok = calls
	}
	if !ok {
		return fmt.Errorf("a row of role %q may not stand here (after %q)", row.Role, t.last.Role)
	}
	return nil
}

func (t *talk) user(row *agenticRow) error {
	if row.text() == "" {
		return errors.New("a user row needs content")
	}
	if len(t.turns) == 0 {
		t.limit = row.limit()
		if len(row.Tools) > 0 && string(row.Tools) != "null" {
			t.tools = row.Tools
		}
	}
	t.turn(row, Message{Role: "user", Content: row.text()})
	return nil
}

func (t *talk) tool(row *agenticRow) error {
	results := row.ToolResults
	if len(results) == 0 && row.ToolCallID != "" {
		results = []toolResult{{row.ToolCallID, row.text()}}
	}
	if len(results) == 0 {
		return errors.New("a tool row needs tool_results")
	}
	var messages []Message
	for _, res := range results {
		if res.ToolCallID == "" {
			return errors.New("a tool result needs tool_call_id")
		}
		messages = append(messages, Message{Role: "tool", Content: res.Content, ToolCallID: res.ToolCallID})
	}
	t.turn(row, messages...)
	return nil
}

// turn begins a request. Until an assistant row follows, nothing is scripted for its reply.
func (t *talk) turn(row *agenticRow, messages ...Message) {
	turn := Turn{Messages: messages, MaxTokens: row.limit(), Script: []Message{}}
	if t.delay {
		turn.Wait = time.Duration(row.DelaySeconds * float64(time.Second))
	}
	t.turns = append(t.turns, turn)
}

func (t *talk) assistant(row *agenticRow) error {
	if row.text() == "" && len(row.ToolCalls) == 0 {
		return errors.New("an assistant row needs content or tool_calls")
	}
	said := Message{Role: "assistant", Content: row.text(), ReasoningContent: row.ReasoningContent}
	reply := said.Content
	for i := range row.ToolCalls {
		call := &row.ToolCalls[i]
		arguments, err := call.normalise()
		if err != nil {
			return fmt.Errorf("tool call %d: %w", i+1, err)
		}
		if said.Content == "" {
			reply += call.Function.Name + " " + arguments
		}
	}
	if len(row.ToolCalls) > 0 {
		raw, err := json.Marshal(row.ToolCalls)
		if err != nil {
			return err
		}
		said.ToolCalls = raw
	}
	last := &t.turns[len(t.turns)-1]
	last.Reply, last.Script = reply, []Message{said}
	return nil
}

// normalise makes the call what the chat API takes, type function and arguments as a string of JSON, and gives that string.
func (c *toolCall) normalise() (string, error) {
	if c.ID == "" || c.Function.Name == "" {
		return "", errors.New("no id or no function name")
	}
	c.Type = "function"
	var text string
	if json.Unmarshal(c.Function.Arguments, &text) == nil {
		return text, nil
	}
	var compact bytes.Buffer
	if len(c.Function.Arguments) == 0 || json.Compact(&compact, c.Function.Arguments) != nil {
		return "", errors.New("no arguments")
	}
	quoted, err := json.Marshal(compact.String())
	c.Function.Arguments = quoted
	return compact.String(), err
}

// conversation gives what was put together.
func (t *talk) conversation() Conversation {
	if t.system != "" {
		first := &t.turns[0]
		first.Messages = append([]Message{{Role: "system", Content: t.system}}, first.Messages...)
	}
	for i := range t.turns {
		if t.turns[i].MaxTokens == 0 {
			t.turns[i].MaxTokens = t.limit
		}
	}
	return Conversation{ID: t.id, Turns: t.turns, Tools: t.tools}
}

func (r *agenticRow) text() string {
	if r.Content == nil {
		return ""
	}
	return *r.Content
}

func (r *agenticRow) limit() int { return max(0, r.MaxCompletion, r.MaxNew) }
