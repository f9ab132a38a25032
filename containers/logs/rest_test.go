package logs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"
)

// engine is a container's log in the engine's framing, in frames of a few bytes from both streams by turns.
type engine struct {
	text string
	asks []container.LogsOptions
}

func (e *engine) ContainerLogs(_ context.Context, _ string, o container.LogsOptions) (io.ReadCloser, error) {
	e.asks = append(e.asks, o)
	text := e.text
	if o.Tail != "" {
		text = text[max(0, len(text)-20):]
	}
	var b bytes.Buffer
	for i := 0; text != ""; i++ {
		n := min(7, len(text))
		kind := []stdcopy.StdType{stdcopy.Stdout, stdcopy.Stderr}[i%2]
		if _, err := stdcopy.NewStdWriter(&b, kind).Write([]byte(text[:n])); err != nil {
			return nil, err
		}
		text = text[n:]
	}
	return io.NopCloser(&b), nil
}

func TestRest(t *testing.T) {
	whole := "loading\nready\nGET /health\nGET /v1/models\nstopping\n"
	for _, c := range []struct{ name, copied, want string }{
		{"nothing was copied", "", whole},
		{"cut off in a line", whole[:19], whole},
		{"all was copied", whole, whole},
		{"the copy was cut", "loading\n[1 bytes were cut out here]\n", "loading\n[1 bytes were cut out here]\n\n[the last 1000 lines of the engine's log follow; some may stand above]\n" + whole[len(whole)-20:]},
		{"more was copied than the engine has", whole + "more", whole + "more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "server.log")
			f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteString(c.copied); err != nil {
				t.Fatal(err)
			}
			e := &engine{text: whole}
			if err := Rest(t.Context(), e, "id", f, f, false); err != nil {
				t.Fatal(err)
			}
			if got, _ := os.ReadFile(name); string(got) != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if o := e.asks[0]; !o.ShowStdout || !o.ShowStderr || o.Follow {
				t.Errorf("asked for %+v", o)
			}
		})
	}
}

// A disk that takes no more is an error, and not a difference.
func TestRestOnAFullDisk(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	full := errors.New("no space left on device")
	err = Rest(t.Context(), &engine{text: strings.Repeat("x", 100)}, "id", f, writer(func([]byte) (int, error) { return 0, full }), false)
	if !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
