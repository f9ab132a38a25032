package external

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"assay/plan"
	"assay/runner/dataset"
	"assay/runner/load"
)

// Prompt is one request as a tool's file can hold it.
type Prompt struct {
	Text      string
	System    string
	MaxTokens int
}

// PromptsName is the file of prompts in a task's folder.
const PromptsName = "prompts.jsonl"

// NeedsPrompts says that a plan's prompts go to the tool in a file.
func NeedsPrompts(p plan.Plan) bool {
	return p.Protocol.Matrix == nil && p.Workload.Kind != "agentic" && !generated(p)
}

// Prompts takes from data as many prompts as a point needs, each with its salt. Those that the tool's file cannot hold are refused.
func (t Tool) Prompts(ctx context.Context, p plan.Plan, at plan.Point, data dataset.Config, salt load.Salt) ([]Prompt, error) {
	data.Unhashed = true // nobody asks these for their hash
	src, err := dataset.Open(ctx, data)
	if err != nil {
		return nil, err
	}
	if file, ok := src.(io.Closer); ok {
		defer file.Close()
	}
	var out []Prompt
	for i := range extentOf(p, at).prompts(at) {
		c, err := src.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		q, err := t.prompt(c, p.Workload.Sampling.MaxTokens)
		if err != nil {
			return nil, err
		}
		mark, err := plainly(salt.Of(i, c.Prompt, c.ID))
		if err != nil {
			return nil, err
		}
		q.salt(mark)
		out = append(out, q)
	}
	return out, nil
}

// salt puts a mark before all of the request, as the native client does.
func (q *Prompt) salt(mark string) {
	if q.System != "" {
		q.System = mark + q.System
		return
	}
	q.Text = mark + q.Text
}

// plainly is a salt, which stands inside a JSON string, as a text.
func plainly(escaped string) (string, error) {
	var text string
	if err := json.Unmarshal([]byte(`"`+escaped+`"`), &text); err != nil {
		return "", fmt.Errorf("read a salt: %w", err)
	}
	return text, nil
}

// prompt is a conversation of one turn with one message, or two of which the first is the system's.
func (t Tool) prompt(c dataset.Conversation, most int) (Prompt, error) {
	q := Prompt{MaxTokens: most}
	if len(c.Turns) != 1 || len(c.Tools) > 0 {
		return q, refusal(t, fmt.Sprintf("conversation %s of the data has %d turns or tools, and its file holds single prompts", c.ID, len(c.Turns)), "write workload.turns: 1, or take client.kind native")
	}
	messages := c.Turns[0].Messages
	if n := c.Turns[0].MaxTokens; n > 0 && n != most {
		q.MaxTokens = n
		if !t.can(OwnLimits) {
			return q, refusal(t, fmt.Sprintf("conversation %s of the data has a limit of its own of %d tokens", c.ID, n), "take the limits out of the data, or take another client")
		}
	}
	if len(messages) == 2 && messages[0].Role == "system" && t.can(System) {
		q.System, messages = messages[0].Content, messages[1:]
	}
	if len(messages) != 1 || messages[0].Role != "user" {
		return q, refusal(t, fmt.Sprintf("conversation %s of the data is more than one message of its user", c.ID), "leave the system prompt and earlier messages out, or take client.kind native")
	}
	q.Text = messages[0].Content
	return q, nil
}

// Encode writes prompts in the tool's form.
func (t Tool) Encode(prompts []Prompt) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for _, q := range prompts {
		if err := enc.Encode(t.row(q)); err != nil {
			return nil, fmt.Errorf("write the prompts of %s: %w", t.Kind, err)
		}
	}
	return out.Bytes(), nil
}
