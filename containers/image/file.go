package image

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/klauspost/compress/zstd"

	"assay/fault"
)

// The files of an image on disk: `docker save` writes the first, an OCI layout has the second, newer engines write both.
const (
	savedName  = "manifest.json"
	layoutName = "index.json"
)

const hintFile = "write it anew, with `docker save` or as an OCI layout (skopeo, crane)"

// Bounds of what is read of an image file into memory: its documents, not its layers.
const (
	documentLimit  = 8 << 20
	documentsLimit = 128 << 20
)

// file is an image on disk: a folder, or a tar that may be compressed.
type file struct {
	name      string
	folder    bool
	bytes     int64             // on disk
	documents map[string][]byte // its JSON files by path
}

// openFile reads the documents of an image file.
func openFile(name string) (file, error) {
	info, err := os.Stat(name)
	if err != nil {
		return file{}, fault.New(fault.Image, "file_missing", "correct server.image_file, or put the file there", "the image's file cannot be read: %w", err)
	}
	if !info.IsDir() && !info.Mode().IsRegular() { // a pipe would be waited for without end, and is read twice
		return file{}, fault.New(fault.Image, "file_invalid", "write it to a file first", "%s is neither a file nor a folder", name)
	}
	f := file{name: name, folder: info.IsDir(), documents: map[string][]byte{}}
	if err := f.each(f.keep); err != nil {
		return file{}, fault.New(fault.Image, "file_invalid", hintFile, "%s is not a whole image file: %w", name, err)
	}
	if f.documents[savedName] == nil && f.documents[layoutName] == nil {
		return file{}, fault.New(fault.Image, "file_invalid", hintFile, "%s has neither %s nor %s", name, savedName, layoutName)
	}
	return f, nil
}

// keep takes a document into memory; a layer is passed by.
func (f *file) keep(h tar.Header, r io.Reader) error {
	f.bytes += h.Size
	if h.Size > documentLimit {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(r, documentLimit))
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(b, []byte("{")) && !bytes.HasPrefix(b, []byte("[")) {
		return nil
	}
	held := len(b)
	for _, d := range f.documents {
		held += len(d)
	}
	if held > documentsLimit {
		return errors.New("its documents are too large")
	}
	f.documents[path.Clean(h.Name)] = b
	return nil
}

// each goes through the regular files.
func (f *file) each(do func(tar.Header, io.Reader) error) error {
	if f.folder {
		return f.eachInFolder(do)
	}
	in, err := os.Open(f.name)
	if err != nil {
		return err
	}
	defer in.Close()
	plain, err := decompressed(in)
	if err != nil {
		return err
	}
	for t := tar.NewReader(plain); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the tar: %w", err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		for key := range h.PAXRecords {
			if strings.HasPrefix(key, "GNU.sparse.") { // a few bytes that stand for any number
				return fmt.Errorf("%s is a sparse file", h.Name)
			}
		}
		if err := do(*h, t); err != nil {
			return err
		}
	}
}

func (f *file) eachInFolder(do func(tar.Header, io.Reader) error) error {
	return filepath.WalkDir(f.name, func(at string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(f.name, at)
		if err != nil {
			return err
		}
		in, err := os.Open(at)
		if err != nil {
			return err
		}
		defer in.Close()
		return do(tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(rel), Size: info.Size(), Mode: 0o644}, in)
	})
}

// decompressed reads a file of gzip or zstd as what is in it. A plain one stays seekable, so that a tar's layers are passed by.
func decompressed(in *os.File) (io.Reader, error) {
	head, err := bufio.NewReaderSize(in, 16).Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return gzip.NewReader(in)
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return zstd.NewReader(in, zstd.WithDecoderConcurrency(1))
	}
	return in, nil
}

// find chooses the image that a reference names, for a platform. What is pinned must be proved by the file itself.
func (f file) find(ref name.Reference, platform v1.Platform) (manifest, error) {
	all, err := f.images()
	if err != nil {
		return manifest{}, fault.New(fault.Image, "file_invalid", hintFile, "%s: %w", f.name, err)
	}
	var held []string
	var named, fit []manifest
	for _, m := range all {
		held = append(held, m.config)
		if d := pinned(ref); d != "" && !m.names(d) {
			continue
		}
		named = append(named, m)
		if m.platform.Satisfies(platform) {
			fit = append(fit, m)
		}
	}
	switch {
	case len(named) == 0:
		return manifest{}, fault.New(fault.Image, "file_differs", "an OCI layout keeps the digests of the registry (skopeo copy docker://… oci:DIR); what `docker save` wrote may keep the last alone: pin "+ref.Context().Name()+"@"+strings.Join(held, " or @"),
			"%s does not hold %s: its images have the configurations %s", f.name, ref, strings.Join(held, ", "))
	case len(fit) == 0:
		return manifest{}, fault.New(fault.Image, "platform_missing", causeNamed("platform_missing").hint, "%s has %s for %s, this machine is %s", f.name, ref, named[0].platform.String(), platform.String())
	case len(fit) > 1:
		return manifest{}, fault.New(fault.Image, "file_several", "pin one of them", "%s holds several images: %s", f.name, strings.Join(held, ", "))
	}
	return fit[0], nil
}

// images lists the images of a file, each once.
func (f file) images() ([]manifest, error) {
	var all []manifest
	if b := f.documents[layoutName]; b != nil {
		if err := f.inIndex(b, "", &all, 0); err != nil {
			return nil, err
		}
	}
	saved, err := f.saved()
	if err != nil {
		return nil, err
	}
	for _, s := range saved {
		known := false
		for _, m := range all {
			known = known || m.config == s.config
		}
		if !known {
			all = append(all, s)
		}
	}
	return all, nil
}

// depth bounds indexes of indexes.
const depth = 4

// inIndex adds the images of an index, whose digest is that of a document or "" for the layout's own list.
func (f file) inIndex(b []byte, digest string, all *[]manifest, level int) error {
	var idx v1.IndexManifest
	if err := json.Unmarshal(b, &idx); err != nil {
		return fmt.Errorf("read an index: %w", err)
	}
	for _, d := range idx.Manifests {
		body, held, err := f.blob(d.Digest)
		if err != nil {
			return err
		}
		switch {
		case !held || d.Platform != nil && d.Platform.OS == "unknown": // another platform's that was left out, or an attestation
		case d.MediaType.IsIndex() && level < depth:
			err = f.inIndex(body, d.Digest.String(), all, level+1)
		case d.MediaType.IsImage():
			err = f.inManifest(body, manifest{index: digest, digest: d.Digest.String()}, all)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f file) inManifest(b []byte, m manifest, all *[]manifest) error {
	var list v1.Manifest
	if err := json.Unmarshal(b, &list); err != nil {
		return fmt.Errorf("read manifest %s: %w", m.digest, err)
	}
	body, held, err := f.blob(list.Config.Digest)
	if err != nil || !held {
		return err
	}
	var cfg v1.ConfigFile
	if err := json.Unmarshal(body, &cfg); err != nil {
		return fmt.Errorf("read configuration %s: %w", list.Config.Digest, err)
	}
	m.config, m.blobs = list.Config.Digest.String(), list.Layers
	*all = append(*all, m.configured(&cfg))
	return nil
}

// savedImage is an entry of the list that `docker save` writes.
type savedImage struct {
	Config   string   `json:"Config"`
	RepoTags []string `json:"RepoTags"`
	Layers   []string `json:"Layers"`
}

// saved lists the images of `docker save`: it tells their configurations and no manifest.
func (f file) saved() ([]manifest, error) {
	b := f.documents[savedName]
	if b == nil {
		return nil, nil
	}
	var list []savedImage
	if err := json.Unmarshal(b, &list); err != nil {
		return nil, fmt.Errorf("read %s: %w", savedName, err)
	}
	var all []manifest
	for _, s := range list {
		body := f.documents[path.Clean(s.Config)]
		var cfg v1.ConfigFile
		if err := json.Unmarshal(body, &cfg); err != nil {
			return nil, fmt.Errorf("read configuration %s: %w", s.Config, err)
		}
		all = append(all, manifest{config: sha256Of(body)}.configured(&cfg))
	}
	return all, nil
}

// blob gives a document of an OCI layout, checked against its digest; held is false when the layout does not have it.
func (f file) blob(digest v1.Hash) (b []byte, held bool, err error) {
	b, held = f.documents[path.Join("blobs", digest.Algorithm, digest.Hex)]
	if held && sha256Of(b) != digest.String() {
		return nil, false, fmt.Errorf("blob %s has other contents", digest)
	}
	return b, held, nil
}

func sha256Of(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}
