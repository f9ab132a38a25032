package dataset

import (
	"encoding/json"
	"time"
)

// Message is one message of a conversation, as the chat API takes it.
type Message struct {
	Role             string          `json:"role"`
	Content          string          `json:"content"`
	ReasoningContent string          `json:"reasoning_content,omitempty"` // assistant: earlier reasoning, replayed
	ToolCalls        json.RawMessage `json:"tool_calls,omitempty"`        // assistant: OpenAI's list, arguments as strings
	ToolCallID       string          `json:"tool_call_id,omitempty"`      // tool: the call it answers
}

// Turn is one request of a conversation: the messages it adds to the history, and how long its user waits before it.
type Turn struct {
	Messages  []Message
	Wait      time.Duration // tool or think time before this turn is sent, after the last one ended
	Reply     string        // scripted assistant reply that stands in the next turn's history; "" takes the server's reply
	Script    []Message     // when not nil, exactly these stand in the next turn's history in place of any reply
	MaxTokens int           // 0: the workload's
}

// Answer gives what stands in the next turn's history after this one: the script, the scripted reply, or what the server said.
func (t Turn) Answer(server string) []Message {
	switch {
	case t.Script != nil:
		return t.Script
	case t.Reply != "":
		return []Message{{Role: "assistant", Content: t.Reply}}
	}
	return []Message{{Role: "assistant", Content: server}}
}

// Conversation is a session: its turns run in order, one at a time.
type Conversation struct {
	ID    string
	Turns []Turn
	Tools json.RawMessage // OpenAI's tool definitions, sent with each turn; nil for none
}

// Source yields conversations for ever or until io.EOF; it is used by one goroutine.
type Source interface {
	Next() (Conversation, error)
	Stats() Stats
}

// Stats says what was read so far.
type Stats struct {
	SHA256   string   // of the file's bytes; of a folder, see Hash; "" for synthetic
	BadLines int      // lines that could not be used
	BadFirst []string // the first few, named: "line 7: …"
	Repeats  int      // how many times the data began again
}

// Config says which conversations are wanted.
type Config struct {
	Kind      string // one of Kinds
	Path      string // file, for text also a folder, whose *.txt files are read
	Builtin   string // in place of Path: data that ships with the program
	System    string // system prompt put before each conversation
	Seed      uint64
	InputLen  int  // words of a turn's prompt, synthetic and text; 0 is DefaultInputLen
	MaxTokens int  // ceiling of a turn's own limit where the data has one; 0 is none
	ToolDelay bool // agentic: keep the recorded waits
	Turns     int  // synthetic: turns of a conversation; else at most so many are used; 0 is one, or all
	Strict    bool // a bad line is an error instead of a note
	Unhashed  bool // the file is not read to its end for its hash: Stats has none
}

// DefaultInputLen is the length of a prompt when none is asked for, in words.
const DefaultInputLen = 512
