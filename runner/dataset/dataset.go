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
	Messages    []Message
	TokenIDs    []int32       // in place of Messages: the prompt as token ids, for the completions endpoint; its conversation has no other turn
	Wait        time.Duration // tool or think time before this turn is sent, after the last one ended
	Reply       string        // scripted assistant reply that stands in the next turn's history; "" takes the server's reply
	Script      []Message     // when not nil, exactly these stand in the next turn's history in place of any reply
	MaxTokens   int           // 0: the workload's
	InputTokens int           // the wanted length of the whole prompt as the server counts it, template and salt included; 0: none is wanted
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
	ID       string
	Numbered bool // the ID is its number: no other one of the data has it
	Turns    []Turn
	Tools    json.RawMessage // OpenAI's tool definitions, sent with each turn; nil for none
	At       time.Duration   // trace: when it arrives, after the first one; it goes on growing when the data begins again
	Prompt   int             // conversations of the same number have the same salt, so that a prefix cache may know them; 0: each request has its own
	Repeat   int             // how many times the data had begun again
}

// Source yields conversations for ever or until io.EOF; it is used by one goroutine.
type Source interface {
	Next() (Conversation, error)
	Stats() Stats
}

// Stats says what was read so far.
type Stats struct {
	SHA256   string   // of the file's bytes; of a folder, see Hashes.Of; of synthetic, its definition
	BadLines int      // lines that could not be used
	BadFirst []string // the first few, named: "line 7: …"
	Repeats  int      // how many times the data began again
	Made     int      // conversations that were made ahead, and that began again in place of the data; 0: none were
	Notes    []string // other things a reader should know
}

// Config says which conversations are wanted.
type Config struct {
	Kind      string // one of Kinds
	Path      string // file, for text also a folder, whose *.txt files are read
	Builtin   string // in place of Path: data that ships with the program
	System    string // system prompt put before each conversation
	Seed      uint64
	InputLen  int  // length of a turn's prompt, synthetic and text; 0 is DefaultInputLen; sharegpt: questions are glued and cut to it, 0 leaves them
	MaxTokens int  // ceiling of a turn's own limit where the data has one, but for trace; 0 is none
	ToolDelay bool // agentic: keep the recorded waits
	Turns     int  // synthetic: turns of a conversation; else at most so many are used; 0 is one, or all
	Strict    bool // a bad line is an error instead of a note
	Unhashed  bool // the file is not read to its end for its hash: Stats has none

	Vocabulary Vocabulary // what made prompts consist of; the zero value is Words()
	Cut        Cutter     // how a prompt of InputLen is cut from text; nil cuts words
	Shared     int        // only so many different conversations, again and again, each with a salt of its own; 0: no limit
	Ahead      Ahead      // conversations are made by Open while it says so, and these again and again; nil: they are made as they are asked for
	Hashes     *Hashes    // hashes that are known already; may be nil
}

// Ahead says whether one more conversation is to be made before the load, after those that were.
type Ahead func(made int) bool

// DefaultInputLen is the length of a prompt when none is asked for, in words.
const DefaultInputLen = 512
