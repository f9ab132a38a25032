package image

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/docker/docker/client"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"assay/fault"
)

// load gives a file's image to the engine.
func (f file) load(ctx context.Context, c *client.Client, m manifest, tell func(Progress)) error {
	r, w := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := f.write(w, m)
		w.CloseWithError(err)
		written <- err
	}()
	resp, err := c.ImageLoad(ctx, &meter{r: r, total: f.bytes, tell: tell})
	_ = r.Close() // the engine may answer before it has read all
	if err := <-written; err != nil && !errors.Is(err, io.ErrClosedPipe) {
		return fault.New(fault.Image, "file_invalid", hintFile, "image file %s cannot be read: %w", f.name, err)
	}
	if err != nil {
		return f.refused(ctx, err.Error())
	}
	defer resp.Body.Close()
	failure, err := drain(resp.Body, func(message) {})
	if err != nil {
		return f.refused(ctx, err.Error())
	}
	if failure != "" {
		return f.refused(ctx, failure)
	}
	return nil
}

// refused says what a failed load means. The engine tells it in words alone.
func (f file) refused(ctx context.Context, text string) error {
	if why := context.Cause(ctx); why != nil {
		return fmt.Errorf("load %s: %w", f.name, why)
	}
	switch c := causeOf(text); c.code {
	case "disk_full":
		return fault.New(fault.Image, c.code, c.hint, "image file %s does not fit on the engine's disk: %s", f.name, text)
	case "wrong_digest":
		return fault.New(fault.Image, "file_invalid", hintFile, "image file %s has other contents than it says: %s", f.name, text)
	}
	if broken(text) {
		return fault.New(fault.Image, "file_invalid", hintFile, "image file %s is damaged or not whole: %s", f.name, text)
	}
	return fault.New(fault.Image, "load_failed", "look at the engine's log", "image file %s could not be loaded: %s", f.name, text)
}

// broken tells the engine's words for a layer that is cut, damaged or missing.
func broken(text string) bool {
	words := []string{"invalid tar header", "unexpected eof", "gzip:", "flate:", "no such file or directory"}
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(strings.ToLower(text), w) })
}

// write makes the tar that every engine reads: one of `docker save` as it is, an OCI layout with such a list beside its own.
func (f file) write(w io.Writer, m manifest) error {
	t := tar.NewWriter(w)
	err := f.each(func(h tar.Header, r io.Reader) error {
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path.Clean(h.Name), Size: h.Size, Mode: 0o644}); err != nil {
			return err
		}
		_, err := io.Copy(t, r)
		return err
	})
	if err == nil && f.documents[savedName] == nil {
		err = writeList(t, m)
	}
	if err != nil {
		return err
	}
	return t.Close()
}

func writeList(t *tar.Writer, m manifest) error {
	config, err := v1.NewHash(m.config)
	if err != nil {
		return err
	}
	s := savedImage{Config: blobPath(config)}
	for _, b := range m.blobs {
		s.Layers = append(s.Layers, blobPath(b.Digest))
	}
	body, err := json.Marshal([]savedImage{s})
	if err != nil {
		return err
	}
	if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: savedName, Size: int64(len(body)), Mode: 0o644}); err != nil {
		return err
	}
	_, err = io.Copy(t, bytes.NewReader(body))
	return err
}

func blobPath(h v1.Hash) string { return path.Join("blobs", h.Algorithm, h.Hex) }

// meter tells how much of a file was read.
type meter struct {
	r           io.Reader
	total, done int64
	told        int64
	tell        func(Progress)
}

// Read reads on.
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	m.done += int64(n)
	if m.done-m.told > m.total/200 {
		m.told = m.done
		m.tell(Progress{Status: "loading", Done: min(m.done, m.total), Total: m.total})
	}
	return n, err
}
