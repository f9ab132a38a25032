package containers

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"assay/fault"
)

// tokenTries is how often a server may answer the test request with an error before that is its last word.
const tokenTries = 3

// tokens is the proof: one small streamed request brings a token. The first one may take long, while kernels are compiled.
func (w *waiter) tokens(ctx context.Context) (bool, string, error) {
	path, body := testRequest(w.opt.Endpoint, w.opt.Model)
	resp, err := w.ask.send(ctx, http.MethodPost, path, body)
	if err != nil {
		return false, fmt.Sprintf("%s: %s", path, answer{err: err}), nil
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		b, err := io.ReadAll(io.LimitReader(resp.Body, answerCap))
		return w.denied(path, answer{status: resp.StatusCode, body: b, err: err})
	}
	problem := firstToken(resp.Body)
	if problem == "" {
		return true, "", nil
	}
	return w.failed(fmt.Sprintf("%s streamed %s", path, problem))
}

// denied is an error status: one of the request's is final, one of the server's may pass.
func (w *waiter) denied(path string, r answer) (bool, string, error) {
	if err := w.refused(r); err != nil {
		return false, "", err
	}
	seen := fmt.Sprintf("%s answered %s", path, r)
	if r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable || r.status == http.StatusBadGateway {
		return false, seen, nil
	}
	return w.failed(seen)
}

// failed counts answers without a token. A dying engine first answers wrongly and then ends, so the exit gets time to be noticed.
func (w *waiter) failed(seen string) (bool, string, error) {
	if w.tries++; w.tries < tokenTries {
		return false, seen, nil
	}
	return false, seen, fault.New(w.layer, "no_tokens", "try the same request by hand, and look at the server's log", "%s is up but no token comes: %s", w.who(), seen)
}

// testRequest is a small streamed request.
func testRequest(endpoint, model string) (path string, body []byte) {
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

// firstToken reads a stream to its first token; "" is success. A stream that ends well without text is a success too: the
// model may have nothing to say.
func firstToken(stream io.Reader) (problem string) {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, answerCap)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		if !ok {
			continue
		}
		if data = strings.TrimSpace(data); data == "[DONE]" {
			break
		}
		var c chunk
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			return "an event that is no JSON: " + firstLine(data)
		}
		if len(c.Error) > 0 && string(c.Error) != "null" {
			return "an error: " + messageOf([]byte(data))
		}
		if c.carriesToken() {
			return ""
		}
	}
	if err := lines.Err(); err != nil {
		return "nothing, then broke off: " + err.Error()
	}
	return "no token at all"
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
