package archive

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"assay/fault"
	"assay/result"
)

// State is the outcome of one thing Verify looked at.
type State string

// The states of a line.
const (
	OK   State = "ok"
	Fail State = "fail"
	None State = "none" // there was nothing to check, and the text says why
)

// Line is one finding.
type Line struct {
	What  string `json:"what"`
	State State  `json:"state"`
	Text  string `json:"text"`
}

// Report is all that Verify found. OK means that no line failed: the signature is good, every hash is equal, and every
// number was recomputed and is equal.
type Report struct {
	OK          bool   `json:"ok"`
	Run         string `json:"run,omitempty"`
	Fingerprint string `json:"key_fingerprint,omitempty"` // of the key whose signature is good; "" when none is
	Lines       []Line `json:"lines"`
}

// limits bound what an archive may make this program read or keep.
type limits struct {
	document  int64 // bytes of manifest, signature and result, each
	recording int64 // bytes of a recording: in memory it takes about eight times as much
	total     int64 // bytes of the unpacked archive
	window    uint64
}

func standardLimits() limits {
	return limits{document: 128 << 20, recording: 512 << 20, total: 256 << 30, window: 64 << 20}
}

// Verify checks an archive. The error tells that it could not be opened or that ctx ended; whatever is wrong inside is in the report.
func Verify(ctx context.Context, path string) (Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return Report{}, fault.New(fault.Archive, "unreadable", "name the archive's file", "verify: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return Report{}, errors.Join(err, fault.New(fault.Archive, "unreadable", "name the archive's file", "verify: %s is no file", path))
	}
	r := verify(ctx, f, standardLimits())
	if err := ctx.Err(); err != nil {
		return Report{}, fmt.Errorf("verify %s: %w", path, err)
	}
	return r, nil
}

func verify(ctx context.Context, in io.Reader, max limits) Report {
	v := verifier{max: max}
	v.read(ctx, in)
	v.conclude()
	v.report.OK = !slices.ContainsFunc(v.report.Lines, func(l Line) bool { return l.State == Fail })
	return v.report
}

// verifier reads an archive front to back and collects what it finds.
type verifier struct {
	max    limits
	report Report

	manifest Manifest
	left     map[string]result.Artifact // files of the manifest that did not come yet
	files    int                        // that came, with the right hash
	foreign  int                        // that came and are not in the manifest
	bytes    int64
	run      *run // nil until the result document was read
}

func (v *verifier) add(state State, what, format string, args ...any) {
	v.report.Lines = append(v.report.Lines, Line{What: what, State: state, Text: fmt.Sprintf(format, args...)})
}

func (v *verifier) read(ctx context.Context, in io.Reader) {
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(v.max.window), zstd.WithDecoderLowmem(true))
	if err != nil {
		v.add(Fail, "archive", "cannot be read: %v", err)
		return
	}
	defer z.Close()
	stream := bounded(ctx, z, v.max.total)
	err = v.readTar(tar.NewReader(stream))
	if err == nil {
		err = expectEnd(stream)
	}
	if err != nil {
		v.add(Fail, "archive", "is damaged, cut off, or not made by assay: %v", err)
	}
}

// bounded ends a stream at a number of bytes or when ctx ends, with an error.
func bounded(ctx context.Context, in io.Reader, n int64) io.Reader {
	return readerFunc(func(b []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		got, err := in.Read(b)
		if n -= int64(got); n < 0 {
			return 0, errors.New("it unpacks to more than this program reads")
		}
		return got, err
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// expectEnd reads to the end, where the checksum of the compression is, and wants nothing on the way.
func expectEnd(in io.Reader) error {
	n, err := io.Copy(io.Discard, in)
	if n > 0 {
		return errors.Join(err, fmt.Errorf("%d bytes follow its end", n))
	}
	return err
}

func (v *verifier) readTar(t *tar.Reader) error {
	if err := v.readHead(t); err != nil {
		return err
	}
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = v.readFile(h, t)
		}
		if err != nil {
			return err
		}
	}
}

// readHead reads manifest and signature. A bad signature is a finding; the files are compared all the same.
func (v *verifier) readHead(t *tar.Reader) error {
	manifest, err := v.readDocument(t, manifestName)
	if err != nil {
		return err
	}
	if v.manifest, err = decodeManifest(manifest); err != nil {
		return fmt.Errorf("%s: %w", manifestName, err)
	}
	v.report.Run = v.manifest.Run
	v.left = make(map[string]result.Artifact, len(v.manifest.Files))
	for _, f := range v.manifest.Files {
		v.left[f.Path] = f
	}
	return v.readSignature(t, manifest)
}

func (v *verifier) readSignature(t *tar.Reader, manifest []byte) error {
	document, err := v.readDocument(t, signatureName)
	if err != nil {
		return err
	}
	var s Signature
	if err = decodeStrict(document, &s); err == nil {
		err = s.check(manifest)
	}
	if err != nil {
		v.add(Fail, "signature", "%v", err)
		return nil
	}
	v.report.Fingerprint = Fingerprint(s.PublicKey)
	v.add(OK, "signature", "Ed25519, key %s", v.report.Fingerprint)
	return nil
}

// readDocument reads the next entry, which must have this name.
func (v *verifier) readDocument(t *tar.Reader, name string) ([]byte, error) {
	h, err := t.Next()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if folder, file, _ := strings.Cut(h.Name, "/"); file != name || h.Typeflag != tar.TypeReg || (v.manifest.Run != "" && folder != v.manifest.Run) {
		return nil, fmt.Errorf("%s should come next, not %q", name, h.Name)
	}
	if h.Size > v.max.document {
		return nil, fmt.Errorf("%s has %d bytes, more than this program reads", name, h.Size)
	}
	b, err := io.ReadAll(t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

// readFile compares a file with the manifest and uses it where it is the result or a recording. The error is the stream's.
func (v *verifier) readFile(h *tar.Header, in io.Reader) error {
	name, ours := strings.CutPrefix(h.Name, v.manifest.Run+"/")
	listed, ok := v.left[name]
	if !ours || !ok || h.Typeflag != tar.TypeReg {
		v.add(Fail, "file "+h.Name, "is not in the manifest, or comes twice")
		return v.tolerate()
	}
	delete(v.left, name)
	if h.Size != listed.Bytes {
		v.add(Fail, "file "+name, "has %d bytes, the manifest says %d", h.Size, listed.Bytes)
		return nil
	}
	sum := sha256.New()
	content := io.TeeReader(in, sum)
	v.use(name, listed.Bytes, content)
	if _, err := io.Copy(io.Discard, content); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if got := fmt.Sprintf("%x", sum.Sum(nil)); got != listed.SHA256 {
		v.add(Fail, "file "+name, "has the SHA-256 %s, the manifest says %s", got, listed.SHA256)
		if v.run != nil {
			v.run.spoil(name)
		}
		return nil
	}
	v.files, v.bytes = v.files+1, v.bytes+listed.Bytes
	return nil
}

// tolerate ends the reading of an archive with many files that are not its own: each is a line of the report.
func (v *verifier) tolerate() error {
	if v.foreign++; v.foreign > maxNamed {
		return errors.New("more of its files are not in the manifest")
	}
	return nil
}

// use takes what the recomputation needs from a file.
func (v *verifier) use(name string, size int64, in io.Reader) {
	switch {
	case name == result.FileName && size > v.max.document:
		v.add(Fail, "result", "has %d bytes, more than this program reads", size)
	case name == result.FileName:
		v.useResult(in)
	case v.run != nil:
		v.run.useRecording(name, size, v.max.recording, in)
		v.run.raw.Take(name, size, in)
	}
}

func (v *verifier) useResult(in io.Reader) {
	document, err := io.ReadAll(in)
	if err != nil {
		return // the stream's error is told by who reads on
	}
	r, err := result.Decode(document)
	if err != nil {
		v.add(Fail, "result", "%v", err)
		return
	}
	if m := newManifest(r, document); m.Run != v.manifest.Run || !slices.Equal(m.Files, v.manifest.Files) {
		v.add(Fail, "manifest", "lists other files than the result document")
	}
	v.run = newRun(r)
}

// conclude adds what can be said only at the end.
func (v *verifier) conclude() {
	if missing := v.missing(); len(missing) > 0 {
		v.add(Fail, "files", "missing: %s", strings.Join(first(missing), ", "))
	}
	if v.files > 0 && v.files == len(v.manifest.Files) {
		v.add(OK, "files", "%d files, %d bytes: all hashes equal", v.files, v.bytes)
	}
	if v.run == nil {
		v.add(Fail, "result", "was not read: nothing could be recomputed")
		return
	}
	v.report.Lines = append(v.report.Lines, v.run.lines()...)
	if err := v.run.raw.Close(); err != nil {
		v.add(Fail, "archive", "what was laid aside of it cannot be removed: %v", err)
	}
}

// missing names the files of the manifest that did not come.
func (v *verifier) missing() []string {
	var paths []string
	for _, f := range v.manifest.Files {
		if _, left := v.left[f.Path]; left {
			paths = append(paths, f.Path)
		}
	}
	return paths
}
