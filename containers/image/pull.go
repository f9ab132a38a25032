package image

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"

	"assay/fault"
)

// limits bound a pull.
type limits struct {
	stall time.Duration // without any word of the engine, which itself tries a layer again for some minutes
	pause time.Duration // before another try; twice as long before each further one
	tries int
}

func usualLimits() limits { return limits{stall: 15 * time.Minute, pause: 5 * time.Second, tries: 3} }

// message is a line of the engine's answer to a pull or a load.
type message struct {
	ID       string
	Status   string
	Stream   string
	Error    string
	Progress struct{ Current, Total int64 } `json:"progressDetail"`
	Detail   struct{ Message string }       `json:"errorDetail"`
}

// drain reads an answer to its end; failure is the engine's word on what went wrong. The engine answers 200 before anything can go
// wrong, so that the stream's messages alone tell how it went.
func drain(r io.Reader, each func(message)) (failure string, err error) {
	dec := json.NewDecoder(r)
	for {
		var m message
		if err := dec.Decode(&m); errors.Is(err, io.EOF) {
			return "", nil
		} else if err != nil {
			return "", fmt.Errorf("read the engine's answer: %w", err)
		}
		if text := cmp.Or(m.Detail.Message, m.Error); text != "" {
			return text, nil
		}
		each(m)
	}
}

// job is one image to be pulled.
type job struct {
	image    string
	auth     account
	manifest manifest // what the registry tells of it; empty when it did not tell
	have     int      // layers that the engine has
	limits   limits
}

// pull fetches an image, again when the cause may pass.
func (j job) pull(ctx context.Context, c *client.Client, tell func(Progress)) error {
	for try := 1; ; try++ {
		why, err := j.once(ctx, c, tell)
		if err == nil || !why.transient || try >= j.limits.tries || ctx.Err() != nil {
			return err
		}
		tell(Progress{Status: fmt.Sprintf("try %d of %d failed: %s", try, j.limits.tries, fault.Of(err, fault.Image).Text)})
		select {
		case <-ctx.Done():
			return fmt.Errorf("pull %s: %w", j.image, context.Cause(ctx))
		case <-time.After(j.limits.pause << (try - 1)):
		}
	}
}

// once fetches an image; why it failed says whether another try may go well.
func (j job) once(ctx context.Context, c *client.Client, tell func(Progress)) (why cause, err error) {
	header, err := j.auth.header()
	if err != nil {
		return cause{}, credentialsFault(j.auth.host, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	quiet := newSilence(j.limits.stall, tell)
	var watch sync.WaitGroup
	watch.Go(func() { quiet.watch(ctx, cancel) })
	defer watch.Wait()
	defer cancel(nil)
	t := track(j.manifest, j.have, quiet.show)
	body, err := c.ImagePull(ctx, j.image, image.PullOptions{RegistryAuth: header})
	if err != nil {
		return j.failed(ctx, err.Error(), t)
	}
	defer body.Close()
	failure, err := drain(body, func(m message) {
		quiet.broken()
		t.message(m)
	})
	if err != nil {
		return j.failed(ctx, err.Error(), t)
	}
	if failure != "" {
		return j.failed(ctx, failure, t)
	}
	return cause{}, nil
}

// failed says what a failed pull means. The engine tells it in words alone.
func (j job) failed(ctx context.Context, text string, t *tracker) (cause, error) {
	switch why := context.Cause(ctx); {
	case errors.Is(why, errStalled):
		c := cause{code: "stalled", hint: "check the network, then run again"}
		return c, fault.New(fault.Image, c.code, c.hint, "the pull of %s made no progress for %s%s", j.image, j.limits.stall, t.where())
	case why != nil:
		return cause{}, fmt.Errorf("pull %s: %w", j.image, why)
	}
	c := causeOf(text)
	return c, fault.New(fault.Image, c.code, c.hint, "image %s could not be pulled%s: %s", j.image, t.where(), j.auth.hide(text))
}

// where names the layer that was in trouble, as part of a sentence.
func (t *tracker) where() string {
	at := fmt.Sprintf(" after %d of %d MB", sum(t.got)/1e6, t.whole()/1e6)
	switch {
	case t.trouble != "":
		return " at layer " + t.trouble + at
	case t.whole() > 0:
		return at
	}
	return ""
}
