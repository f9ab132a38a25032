package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"assay/api/stream"
	"assay/result"
	"assay/store"
)

// replayQuiet is how long a stream of an ended run waits for events that are still being replayed.
const replayQuiet = 250 * time.Millisecond

// allEvents streams what happens on this node.
func (s *Server) allEvents(c echo.Context) error {
	after, err := lastEventID(c)
	if err != nil {
		return err
	}
	ctx, cancel := s.streamContext(c)
	defer cancel()
	events, err := s.Controller.Events(ctx, after, "")
	if err != nil {
		return err
	}
	return s.pump(ctx, openStream(c), events, "")
}

// runEvents streams one run and ends after its run.ended. It subscribes before it looks at the run's state: a run that
// ends in between is either seen in the stream or found ended, never missed.
func (s *Server) runEvents(c echo.Context) error {
	after, err := lastEventID(c)
	if err != nil {
		return err
	}
	ctx, cancel := s.streamContext(c)
	defer cancel()
	if _, err := s.Store.Run(ctx, c.Param("id")); err != nil {
		return err
	}
	events, err := s.Controller.Events(ctx, after, c.Param("id"))
	if err != nil {
		return err
	}
	run, err := s.Store.Run(ctx, c.Param("id"))
	if err != nil {
		return err
	}
	if run.State.Ended() {
		return s.replay(ctx, openStream(c), events, run)
	}
	return s.pump(ctx, openStream(c), events, run.ID)
}

// lastEventID is where the caller left off: 0 for from now on. ?after= is for callers that cannot set the header.
func lastEventID(c echo.Context) (int64, error) {
	text := c.Request().Header.Get("Last-Event-ID")
	if text == "" {
		text = c.QueryParam("after")
	}
	if text == "" {
		return 0, nil
	}
	seq, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seq < 0 {
		return 0, refuse(http.StatusBadRequest, "bad_event_id", "Send the id of the last event you have, or none.", "Last-Event-ID %q is not an id of this server", text)
	}
	return seq, nil
}

// streamContext ends with the request and with the server.
func (s *Server) streamContext(c echo.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(c.Request().Context())
	go func() {
		select {
		case <-s.stopped:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// pump forwards events until the stream, the caller or (with only set) the run ends.
func (s *Server) pump(ctx context.Context, w stream.Stream, events <-chan result.Event, only string) error {
	beat := time.NewTicker(s.heartbeat)
	defer beat.Stop()
	if err := w.Comment("stream open"); err != nil {
		return nil // the caller is gone
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-beat.C:
			if err := w.Comment("still here"); err != nil {
				return nil
			}
		case e, open := <-events:
			if !open {
				return nil // too slow a reader, or the daemon stops: the caller comes back with Last-Event-ID
			}
			if only != "" && e.Run != only {
				continue
			}
			if err := w.Event(e); err != nil || only != "" && e.Kind == result.RunEnded {
				return nil
			}
		}
	}
}

// replay sends what is left of an ended run, and a run.ended made from its row when the events no longer hold one.
func (s *Server) replay(ctx context.Context, w stream.Stream, events <-chan result.Event, run store.Run) error {
	quiet := time.NewTimer(replayQuiet)
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-quiet.C:
			_ = w.Event(endedEvent(run)) // the stream ends here either way
			return nil
		case e, open := <-events:
			if !open {
				_ = w.Event(endedEvent(run))
				return nil
			}
			if e.Run != run.ID {
				continue
			}
			quiet.Reset(replayQuiet)
			if err := w.Event(e); err != nil || e.Kind == result.RunEnded {
				return nil
			}
		}
	}
}

// endedEvent tells the end of a run from its row. It has no id, so it moves no reader's place in the stream.
func endedEvent(run store.Run) result.Event {
	e := result.Event{AtUS: run.EndedUS, Run: run.ID, Kind: result.RunEnded, State: run.State, Verdict: run.Verdict}
	if run.Error != nil {
		e.Text = run.Error.Error()
	}
	return e
}

// openStream answers with a stream. It is flushed below echo, whose own Flush does not tell that the reader is gone.
func openStream(c echo.Context) stream.Stream {
	return stream.Open(c.Response(), http.NewResponseController(c.Response().Writer))
}
