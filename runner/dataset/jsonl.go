package dataset

import (
	"encoding/json"
	"fmt"
	"slices"
)

// jsonl reads one request a line: {"prompt": "…"} (also "text" or "text_input") or {"messages": […]}, with an optional system prompt, an
// optional id and an optional limit (output_tokens, output_length, max_tokens or max_completion_tokens). A line of OpenAI's batch files has all
// that in its body.
type jsonl struct{ lines }

func newJSONL(from origin, _ Config) reader { return &jsonl{lines{from: from}} }

type jsonlRow struct {
	ID                  json.RawMessage `json:"id"`
	Prompt              string          `json:"prompt"`
	Text                string          `json:"text"`
	TextInput           string          `json:"text_input"`
	System              string          `json:"system"`
	Messages            []Message       `json:"messages"`
	OutputTokens        *int            `json:"output_tokens"`
	OutputLength        *int            `json:"output_length"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	CustomID            json.RawMessage `json:"custom_id"` // of a batch
	Body                *jsonlRow       `json:"body"`      // of a batch
}

func (r *jsonl) next() (Conversation, error) {
	line, err := r.lines.next()
	if err != nil {
		return Conversation{}, err
	}
	var row jsonlRow
	if err := json.Unmarshal(line, &row); err != nil {
		return Conversation{}, badf("line %d: %v", r.number, plainly(err))
	}
	if row.Body != nil {
		id := row.CustomID
		row = *row.Body
		row.ID = id
	}
	messages, err := row.messages()
	if err != nil {
		return Conversation{}, badf("line %d: %v", r.number, err)
	}
	limit, err := row.limit()
	if err != nil {
		return Conversation{}, badf("line %d: %v", r.number, err)
	}
	return Conversation{ID: row.id(r.number), Turns: []Turn{{Messages: messages, MaxTokens: limit}}}, nil
}

// id is the row's own where it is a number or printable text, else made of the line's number.
func (r jsonlRow) id(number int) string {
	var text string
	if json.Unmarshal(r.ID, &text) != nil {
		text = string(r.ID)
	}
	if text == "null" || !printable(text) {
		return fmt.Sprintf("line-%d", number)
	}
	return text
}

// limit is how long the answer may be, by whichever name; 0 when the row does not say.
func (r jsonlRow) limit() (int, error) {
	most := 0
	for _, n := range []*int{r.OutputTokens, r.OutputLength, r.MaxTokens, r.MaxCompletionTokens} {
		if n == nil {
			continue
		}
		if *n < 1 {
			return 0, fmt.Errorf("an answer of %d tokens at most", *n)
		}
		most = max(most, *n)
	}
	return most, nil
}

func (r jsonlRow) messages() ([]Message, error) {
	prompt := r.Prompt + r.Text + r.TextInput
	if (prompt == "") == (len(r.Messages) == 0) {
		return nil, fmt.Errorf("want either a prompt or messages")
	}
	if prompt != "" {
		return withSystem(r.System, []Message{{Role: "user", Content: prompt}}), nil
	}
	for i, m := range r.Messages {
		if !slices.Contains([]string{"system", "developer", "user", "assistant", "tool"}, m.Role) {
			return nil, fmt.Errorf("message %d: unknown role %q", i+1, m.Role)
		}
		if m.Content == "" && len(m.ToolCalls) == 0 && m.Role != "tool" { // a tool may answer nothing
			return nil, fmt.Errorf("message %d has no content", i+1)
		}
	}
	return withSystem(r.System, r.Messages), nil
}

// printable says whether s can stand in a header: some visible ASCII, no control characters.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return s != "" && s[0] != ' ' && s[len(s)-1] != ' '
}
