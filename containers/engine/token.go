package engine

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
)

// TestRequest is a small streamed request.
func TestRequest(endpoint, model string) (path string, body []byte) {
	req := map[string]any{"model": model, "max_tokens": 4, "temperature": 0, "stream": true}
	path = "/v1/chat/completions"
	if endpoint == "completions" {
		path, req["prompt"] = "/v1/completions", "Count: one two"
	} else {
		req["messages"] = []map[string]string{{"role": "user", "content": "Say one word."}}
	}
	body, _ = json.Marshal(req) // plain data cannot fail
	return path, body
}

// chunk is what matters of a stream's event here.
type chunk struct {
	Error   json.RawMessage
	Choices []struct {
		Text   json.RawMessage
		Finish json.RawMessage `json:"finish_reason"`
		Delta  map[string]json.RawMessage
	}
}

const noToken = "no token at all"

// FirstToken reads a stream to its first token; "" is success. A stream that ends well without text is a success too: the
// model may have nothing to say. The problem is in the words of the server, as long as they are.
func FirstToken(stream io.Reader) (problem string) {
	problem = noToken
	err := eventData(stream, func(data string) (more bool) {
		if data = strings.TrimSpace(data); data == "[DONE]" {
			return false
		}
		var said bool
		problem, said = problemOf(data)
		return !said
	})
	if err != nil {
		return "nothing, then broke off: " + err.Error()
	}
	return problem
}

// problemOf reads one event; said is false for one that is neither a token nor a problem of its own.
func problemOf(data string) (problem string, said bool) {
	var c chunk
	if err := json.Unmarshal([]byte(data), &c); err != nil {
		return "an event that is no JSON: " + data, true
	}
	if says(c.Error) {
		return "an error: " + messageOf([]byte(data)), true
	}
	if c.carriesToken() {
		return "", true
	}
	return noToken, false
}

func (c chunk) carriesToken() bool {
	for _, x := range c.Choices {
		if says(x.Text) || slices.ContainsFunc(spoken(), func(member string) bool { return says(x.Delta[member]) }) {
			return true
		}
		if finish := string(x.Finish); finish == `"stop"` || finish == `"length"` || finish == `"tool_calls"` {
			return true
		}
	}
	return false
}

// spoken are the members of a delta that hold what the model says; the load generator takes the same.
func spoken() []string {
	return []string{"content", "reasoning", "reasoning_content", "thinking", "refusal", "tool_calls", "function_call"}
}

// says is false for a value that is there and holds nothing, as some servers write in each event.
func says(value json.RawMessage) bool {
	return !slices.Contains([]string{"", "null", "false", `""`, "{}", "[]"}, string(value))
}
