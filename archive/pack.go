package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/klauspost/compress/zstd"

	"assay/fault"
	"assay/result"
)

// Pack writes the archive of an ended run from its folder: the result document and the artifacts it lists, signed with key. A
// file that is missing or changed since the run ended is a fault: what is signed is what was measured.
func Pack(ctx context.Context, runDir string, key ed25519.PrivateKey, w io.Writer) error {
	root, err := os.OpenRoot(runDir)
	if err != nil {
		return fault.New(fault.Archive, "no_run", "", "pack run: %w", err)
	}
	defer root.Close()
	document, r, err := readResult(root)
	if err != nil {
		return err
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
	if err != nil {
		return fmt.Errorf("pack run %s: %w", r.Run.ID, err)
	}
	p := packer{root: root, tar: tar.NewWriter(z), folder: r.Run.ID}
	if err := errors.Join(p.pack(ctx, newManifest(r, document), document, key), z.Close()); err != nil {
		return fmt.Errorf("pack run %s: %w", r.Run.ID, err)
	}
	return nil
}

func readResult(root *os.Root) ([]byte, result.Result, error) {
	document, err := root.ReadFile(result.FileName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, result.Result{}, fault.New(fault.Archive, "no_result", "a run can be packed when it ended", "pack run: %w", err)
	}
	if err != nil {
		return nil, result.Result{}, fmt.Errorf("pack run: %w", err)
	}
	r, err := result.Decode(document)
	return document, r, err
}

type packer struct {
	root   *os.Root
	tar    *tar.Writer
	folder string
}

func (p packer) pack(ctx context.Context, m Manifest, document []byte, key ed25519.PrivateKey) error {
	manifest, err := encode(m)
	if err != nil {
		return err
	}
	if _, err := decodeManifest(manifest); err != nil {
		return fmt.Errorf("the result lists files that cannot be packed: %w", err)
	}
	signature, err := encode(sign(key, manifest))
	if err != nil {
		return err
	}
	for _, own := range []struct {
		name string
		body []byte
	}{{manifestName, manifest}, {signatureName, signature}, {result.FileName, document}} {
		if err := p.entry(ctx, own.name, int64(len(own.body)), bytes.NewReader(own.body)); err != nil {
			return err
		}
	}
	for _, f := range m.Files[1:] {
		if err := p.file(ctx, f); err != nil {
			return err
		}
	}
	return p.tar.Close()
}

// entry writes one file with everything constant that is not its content.
func (p packer) entry(ctx context.Context, name string, size int64, body io.Reader) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h := tar.Header{Typeflag: tar.TypeReg, Name: path.Join(p.folder, name), Size: size, Mode: 0o644, ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
	if err := p.tar.WriteHeader(&h); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if n, err := io.Copy(p.tar, io.LimitReader(body, size)); err != nil || n != size {
		return errors.Join(err, fmt.Errorf("write %s: %d of %d bytes", name, n, size))
	}
	return nil
}

// file packs an artifact and makes sure that it is the one the result lists.
func (p packer) file(ctx context.Context, a result.Artifact) error {
	f, err := p.root.Open(a.Path)
	if err != nil {
		return changed(a, "%w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() != a.Bytes {
		return changed(a, "it has %d bytes, %d are listed", info.Size(), a.Bytes)
	}
	h := sha256.New()
	if err := p.entry(ctx, a.Path, a.Bytes, io.TeeReader(f, h)); err != nil {
		return err
	}
	if got := fmt.Sprintf("%x", h.Sum(nil)); got != a.SHA256 {
		return changed(a, "its SHA-256 is %s, %s is listed", got, a.SHA256)
	}
	return nil
}

func changed(a result.Artifact, format string, args ...any) error {
	return fault.New(fault.Archive, "changed", "restore the run's folder from a backup; a changed run is not signed",
		"file %s is not the one the run left: %w", a.Path, fmt.Errorf(format, args...))
}
