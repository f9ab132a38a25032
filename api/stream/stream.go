package stream

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"assay/result"
)

// frameDeadline is how long one write to a reader may take before the reader counts as gone.
const frameDeadline = 30 * time.Second

// Stream is an answer of server-sent events.
type Stream struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

// Open sends the headers. X-Accel-Buffering keeps a reverse proxy from holding events back.
func Open(w http.ResponseWriter, rc *http.ResponseController) Stream {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	return Stream{w: w, rc: rc}
}

// Event writes one event; JSON holds no line break, so one data line carries it.
func (s Stream) Event(e result.Event) error {
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write event %d: %w", e.Seq, err)
	}
	if e.Seq == 0 {
		return s.send("data: %s\n\n", data)
	}
	return s.send("id: %d\ndata: %s\n\n", e.Seq, data)
}

// Comment writes what a reader passes over: it keeps the connection alive.
func (s Stream) Comment(text string) error { return s.send(": %s\n\n", text) }

func (s Stream) send(format string, args ...any) error {
	_ = s.rc.SetWriteDeadline(time.Now().Add(frameDeadline)) // a recorder in a test has none
	if _, err := fmt.Fprintf(s.w, format, args...); err != nil {
		return err
	}
	return s.rc.Flush()
}
