package logs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"
)

// Engine gives the log of a container.
type Engine interface {
	ContainerLogs(ctx context.Context, id string, o container.LogsOptions) (io.ReadCloser, error)
}

// lastLines are copied when it cannot be told where the copy ended.
const lastLines = "1000"

// errDiffers means that a copy is not the beginning of the log: one of the two was cut.
var errDiffers = errors.New("the copy is not the beginning of the log")

// Rest writes to w what the engine holds of a container's log beyond the copy, which is read from its beginning. With follow it goes on
// until the container ends. Where the copy is not the beginning of what the engine holds, because one of them was cut, the last 1000 lines
// are written, with a line that says so.
func Rest(ctx context.Context, e Engine, id string, copied *os.File, w io.Writer, follow bool) error {
	st, err := copied.Stat()
	if err != nil {
		return fmt.Errorf("look at the log: %w", err)
	}
	err = read(ctx, e, id, container.LogsOptions{Follow: follow}, &beyond{copied: io.NewSectionReader(copied, 0, st.Size()), left: st.Size(), w: w})
	if !errors.Is(err, errDiffers) {
		return err
	}
	if _, err := fmt.Fprintf(w, "\n[the last %s lines of the engine's log follow; some may stand above]\n", lastLines); err != nil {
		return err
	}
	return read(ctx, e, id, container.LogsOptions{Follow: follow, Tail: lastLines}, w)
}

// read copies both streams of a container's log in the order they came.
func read(ctx context.Context, e Engine, id string, o container.LogsOptions, w io.Writer) error {
	o.ShowStdout, o.ShowStderr = true, true
	out, err := e.ContainerLogs(ctx, id, o)
	if err != nil {
		return fmt.Errorf("read the engine's log: %w", err)
	}
	defer out.Close()
	_, err = stdcopy.StdCopy(w, w, out)
	return err
}

// beyond passes over what was copied already and writes the rest.
type beyond struct {
	copied io.Reader
	left   int64 // bytes of the copy that were not met yet
	w      io.Writer
}

func (b *beyond) Write(p []byte) (int, error) {
	n := int(min(b.left, int64(len(p))))
	if n > 0 {
		have := make([]byte, n)
		if _, err := io.ReadFull(b.copied, have); err != nil {
			return 0, err
		}
		if !bytes.Equal(have, p[:n]) {
			return 0, errDiffers
		}
		b.left -= int64(n)
	}
	if n == len(p) {
		return n, nil
	}
	m, err := b.w.Write(p[n:])
	return n + m, err
}
