package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"assay/fault"
	"assay/runner/record"
)

// eventsFormat is JSON lines, one per measured request with all its token events, in UTC microseconds.
func eventsFormat() Format {
	return Format{Name: "events", ContentType: "application/x-ndjson", Write: writeEvents}
}

// request is a line of the format; a number the server did not tell is null.
type request struct {
	Point        string     `json:"point"`
	ResponseID   string     `json:"response_id"`
	Session      string     `json:"session"`
	Turn         int        `json:"turn"`
	SentUS       *int64     `json:"sent_us"`
	Outcome      string     `json:"outcome"`
	InputTokens  *int64     `json:"input_tokens"`
	OutputTokens *int64     `json:"output_tokens"`
	Events       [][2]int64 `json:"events"`
}

func writeEvents(w io.Writer, in Input) error {
	b := bufio.NewWriter(w)
	for _, p := range in.Result.Points {
		if p.Recording == nil {
			continue
		}
		if in.Recording == nil {
			return fault.New(fault.Store, "no_recording", "the events of a run are in its recordings; run this where they are kept", "the recordings of run %s are not at hand", in.Result.Run.ID)
		}
		rec, err := in.Recording(p.Recording.Path)
		if err != nil {
			return fmt.Errorf("events of point %s: %w", p.ID, err)
		}
		if err := writeRequests(b, p.ID, rec); err != nil {
			return fmt.Errorf("write events of point %s: %w", p.ID, err)
		}
	}
	return b.Flush()
}

func writeRequests(w io.Writer, point string, rec record.Recording) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, r := range rec.Requests {
		if r.Warmup {
			continue
		}
		if err := enc.Encode(requestLine(point, rec.Header.EpochUS, r)); err != nil {
			return err
		}
	}
	return nil
}

func requestLine(point string, epoch int64, r record.Request) request {
	line := request{
		Point: point, ResponseID: r.ID, Session: r.Session, Turn: r.Turn, Outcome: string(r.Outcome),
		InputTokens: told(r.InputTokens, 0), OutputTokens: told(r.OutputTokens, 0), SentUS: told(r.SentUS, epoch), Events: [][2]int64{},
	}
	for _, e := range r.Events {
		line.Events = append(line.Events, [2]int64{epoch + e.AtUS, e.Tokens})
	}
	return line
}

// told gives a number moved by base, or nil where it never came.
func told(n, base int64) *int64 {
	if n == record.Never {
		return nil
	}
	n += base
	return &n
}
