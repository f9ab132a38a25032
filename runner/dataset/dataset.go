package dataset

import "time"

// Message is one message of a conversation, as the chat API takes it.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Turn is one request of a conversation: the messages it adds to the history, and how long its user waits before it.
type Turn struct {
	Messages  []Message
	Wait      time.Duration // tool or think time before this turn is sent, after the last one ended
	Reply     string        // scripted assistant reply that stands in the next turn's history; "" takes the server's reply
	MaxTokens int           // 0: the workload's
}

// Conversation is a session: its turns run in order, one at a time.
type Conversation struct {
	ID    string
	Turns []Turn
}

// Source yields conversations for ever or until io.EOF; it is used by one goroutine.
type Source interface {
	Next() (Conversation, error)
	Stats() Stats
}

// Stats says what was read so far.
type Stats struct {
	SHA256   string   // of the file's bytes; "" for synthetic
	BadLines int      // lines that could not be used
	BadFirst []string // the first few, named: "line 7: …"
	Repeats  int      // how many times the data began again
}
