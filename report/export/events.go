package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"assay/fault"
	"assay/result"
	"assay/runner/record"
)

// Recordings hands the requests of the recording at path to visit, one at a time, as record.Scan does.
type Recordings func(path string, visit func(*record.Request) error) (record.Whole, error)

// scan reads the recording of a point of a run; recordings is nil where they are not at hand.
func (recordings Recordings) scan(run string, p result.Point, visit func(*record.Request) error) error {
	if recordings == nil {
		return fault.New(fault.Store, "no_recording", "this report is made of a run's recordings; run it where they are kept", "the recordings of run %s are not at hand", run)
	}
	whole, err := recordings(p.Recording.Path, visit)
	if err != nil {
		return fmt.Errorf("point %s: %w", p.ID, err)
	}
	if whole.Torn {
		return fault.New(fault.Store, "recording_torn", "take the file from the run's archive; `assay verify` says whether that is whole",
			"the recording %s of point %s is cut off after %d requests, and figures made of it would be wrong", p.Recording.Path, p.ID, whole.Requests)
	}
	return nil
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

	Status int    `json:"status,omitempty"` // of HTTP
	Error  string `json:"error,omitempty"`  // the first error text
	Finish string `json:"finish_reason,omitempty"`
}

// Events writes JSON lines, one per measured request with all its token events, in UTC microseconds.
func Events(w io.Writer, r result.Result, recordings Recordings) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	for _, p := range r.Points {
		if p.Recording == nil {
			continue
		}
		err := recordings.scan(r.Run.ID, p, func(q *record.Request) error {
			if q.Warmup {
				return nil
			}
			return enc.Encode(requestLine(p.ID, p.Recording.EpochUS, q))
		})
		if err != nil {
			return err
		}
	}
	return b.Flush()
}

func requestLine(point string, epoch int64, r *record.Request) request {
	line := request{
		Point: point, ResponseID: r.ID, Session: r.Session, Turn: r.Turn, Outcome: string(r.Outcome),
		InputTokens: told(r.InputTokens, 0), OutputTokens: told(r.OutputTokens, 0), SentUS: told(r.SentUS, epoch), Events: [][2]int64{},
		Status: r.Status, Error: r.Error, Finish: r.FinishReason,
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
