package engine

import (
	"encoding/json"
	"io"
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
		Text   string
		Finish string `json:"finish_reason"`
		Delta  struct {
			Content, Reasoning string
			ReasoningContent   string `json:"reasoning_content"`
		}
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
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return "an error: " + messageOf([]byte(data)), true
	}
	if c.carriesToken() {
		return "", true
	}
	return noToken, false
}

func (c chunk) carriesToken() bool {
	for _, x := range c.Choices {
		if x.Text+x.Delta.Content+x.Delta.Reasoning+x.Delta.ReasoningContent != "" {
			return true
		}
		if x.Finish == "stop" || x.Finish == "length" || x.Finish == "tool_calls" {
			return true
		}
	}
	return false
}
