package dataset

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// shareGPT reads a JSON array (or a sequence) of {"id", "conversations": [{"from", "value"}, …]}, one record at a time. Its replies are
// kept as the history's; what stands before the first human message is left out, but for a system message. Their order is shuffled by the seed.
type shareGPT struct {
	from   origin
	file   io.ReadCloser
	json   *json.Decoder
	record int
	broken bool
}

func newShareGPT(from origin, cfg Config) reader {
	r := shuffle(&shareGPT{from: from}, cfg.Seed)
	if cfg.InputLen > 0 {
		r = glue(r, cfg)
	}
	return r
}

type shareGPTRecord struct {
	ID            string
	Conversations []struct{ From, Value, Role, Content string }
}

func (r *shareGPT) open() error {
	file, err := r.from.open(0)
	if err != nil {
		return err
	}
	r.file = file
	in := bufio.NewReaderSize(file, 64<<10)
	r.json = json.NewDecoder(in)
	for {
		b, err := in.ReadByte()
		if err != nil {
			return err
		}
		switch b {
		case ' ', '\t', '\r', '\n', 0xef, 0xbb, 0xbf: // white space, byte order mark
			continue
		}
		if err := in.UnreadByte(); err != nil {
			return err
		}
		if b == '[' {
			_, err = r.json.Token()
		}
		return err
	}
}

func (r *shareGPT) next() (Conversation, error) {
	if r.json == nil {
		if err := r.open(); err != nil {
			return Conversation{}, err
		}
	}
	if r.broken || !r.json.More() {
		return Conversation{}, io.EOF
	}
	r.record++
	var raw json.RawMessage
	if err := r.json.Decode(&raw); err != nil {
		if !isJSON(err) {
			return Conversation{}, fmt.Errorf("record %d: %w", r.record, err)
		}
		r.broken = true
		return Conversation{}, badf("record %d, byte %d: %v; the file was not read further", r.record, r.json.InputOffset(), err)
	}
	var rec shareGPTRecord
	if err := json.Unmarshal(raw, &rec); err != nil {
		return Conversation{}, badf("record %d: %v", r.record, plainly(err))
	}
	c, err := rec.conversation()
	if err != nil {
		return Conversation{}, badf("record %d: %v", r.record, err)
	}
	if c.ID = rec.ID; !printable(c.ID) {
		c.ID = fmt.Sprintf("record-%d", r.record)
	}
	return c, nil
}

// isJSON tells broken JSON, a file cut short too, from a failed read.
func isJSON(err error) bool {
	var syntax *json.SyntaxError
	return errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

func (rec shareGPTRecord) conversation() (Conversation, error) {
	var c Conversation
	var pending []Message // of the turn that is not answered yet
	answered := true
	for i, m := range rec.Conversations {
		text := m.Value + m.Content
		switch m.From + m.Role {
		case "system":
			pending = append(pending, Message{Role: "system", Content: text})
		case "human", "user":
			if text == "" {
				return c, fmt.Errorf("message %d is empty", i+1)
			}
			if answered {
				c.Turns = append(c.Turns, Turn{Messages: pending})
				pending, answered = nil, false
			}
			last := &c.Turns[len(c.Turns)-1]
			last.Messages = append(last.Messages, Message{Role: "user", Content: text})
		case "gpt", "assistant", "chatgpt", "bing", "bard":
			if len(c.Turns) > 0 {
				c.Turns[len(c.Turns)-1].Reply += text
			}
			answered = true
		default:
			return c, fmt.Errorf("message %d: unknown speaker %q", i+1, m.From+m.Role)
		}
	}
	if len(c.Turns) == 0 {
		return c, errors.New("no human message")
	}
	return c, nil
}

// Close closes the file.
func (r *shareGPT) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
