package inside

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"
)

// image is what a container of an image that nobody trusts holds, by path; a header without a name is a regular file of its text.
type image map[string]struct {
	text string
	link string
	mode fs.FileMode
}

// archive answers as the engine's copy does: links on the way are followed inside the container, the last is not.
func (i image) archive(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("path")
	f, ok := i[name]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"message":"no such file"}`)
		return
	}
	stat, _ := json.Marshal(container.PathStat{Name: name, Mode: f.mode, LinkTarget: f.link})
	w.Header().Set("X-Docker-Container-Path-Stat", base64.StdEncoding.EncodeToString(stat))
	t := tar.NewWriter(w)
	head := &tar.Header{Name: "x", Typeflag: tar.TypeReg, Size: int64(len(f.text)), Mode: 0o644}
	if f.link != "" {
		head = &tar.Header{Name: "x", Typeflag: tar.TypeSymlink, Linkname: f.link}
	}
	_ = t.WriteHeader(head)
	_, _ = io.WriteString(t, f.text) // breaks off when the other side has enough
}

// engine serves a container, whose programs print what run gives.
func engine(t *testing.T, i image, run func(out io.Writer)) Container {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1.47/containers/c/archive", i.archive)
	mux.HandleFunc("POST /v1.47/containers/c/exec", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"Id":"e"}`)
	})
	mux.HandleFunc("GET /v1.47/exec/e/json", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"ID":"e","Running":true}`) })
	mux.HandleFunc("POST /v1.47/exec/e/start", func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.multiplexed-stream\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
		run(conn)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	c, err := client.NewClientWithOpts(client.WithHost("tcp://"+strings.TrimPrefix(server.URL, "http://")), client.WithVersion("1.47"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return Container{Client: c, ID: "c"}
}

// TestContainerFiles: a link leads to a file of the container and of nowhere else; what is no file, has no end or no place gives an error.
func TestContainerFiles(t *testing.T) {
	mine := t.TempDir() + "/secret"
	if err := os.WriteFile(mine, []byte("of this machine"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := engine(t, image{
		"/etc/os-release": {link: "../usr/lib/os-release"}, "/usr/lib/os-release": {text: "ID=x"}, "/out": {link: strings.Repeat("../", 20) + mine[1:]}, "/absolute": {link: mine},
		"/a": {link: "/b"}, "/b": {link: "a"}, "/opt": {mode: fs.ModeDir}, "/large": {text: strings.Repeat("x", fileBytes+1<<20)},
	}, nil)
	if b, err := c.File(t.Context(), "/etc/os-release"); string(b) != "ID=x" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := c.File(t.Context(), "/large"); len(b) != fileBytes || err != nil {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	for _, name := range []string{"/out", "/absolute", "/nowhere"} {
		if b, err := c.File(t.Context(), name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	for _, name := range []string{"/a", "/opt"} {
		if b, err := c.File(t.Context(), name); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}

// TestContainerPrograms: a program that prints without end is left at its limit, one that says nothing when the time is up.
func TestContainerPrograms(t *testing.T) {
	flood := engine(t, nil, func(out io.Writer) {
		w, line := stdcopy.NewStdWriter(out, stdcopy.Stdout), bytes.Repeat([]byte("x"), 1<<15)
		for {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	})
	if out, _, err := flood.Run(t.Context(), "python3"); err == nil || err.Error() != "python3 printed more than 1024 KiB" || out != nil {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	ended := make(chan struct{})
	mute := engine(t, nil, func(io.Writer) { <-ended })
	defer close(ended)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := mute.Run(ctx, "python3"); err == nil {
		t.Error("it answered")
	}
}
