package archive

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"assay/result"
)

// Schema is the schema name of an archive's manifest.
const Schema = "assay.archive/v1"

// The entries that come before the files.
const (
	manifestName  = "manifest.json"
	signatureName = "signature.json"
)

// Manifest lists what an archive holds: the result document first, then its artifacts in the order of their paths.
type Manifest struct {
	Schema string            `json:"schema"`
	Run    string            `json:"run"`
	Files  []result.Artifact `json:"files"`
}

// Signature is an Ed25519 signature over the bytes of the manifest. JSON writes key and value in base64.
type Signature struct {
	Algorithm string `json:"algorithm"` // ed25519
	PublicKey []byte `json:"public_key"`
	Value     []byte `json:"value"`
}

const algorithm = "ed25519"

// Fingerprint is the short name of a public key: "SHA256:" and the base64 of its hash, as ssh writes it.
func Fingerprint(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

func sign(key ed25519.PrivateKey, manifest []byte) Signature {
	return Signature{Algorithm: algorithm, PublicKey: key.Public().(ed25519.PublicKey), Value: ed25519.Sign(key, manifest)}
}

// check tells why s is no signature over manifest.
func (s Signature) check(manifest []byte) error {
	switch {
	case s.Algorithm != algorithm:
		return fmt.Errorf("algorithm %q is not known", s.Algorithm)
	case len(s.PublicKey) != ed25519.PublicKeySize:
		return errors.New("the public key has a wrong length")
	case !ed25519.Verify(s.PublicKey, manifest, s.Value):
		return errors.New("the signature is not over this manifest")
	}
	return nil
}

// encode writes v as the archive's own documents are written: stable, readable, with a newline at the end.
func encode(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	return append(b, '\n'), err
}

// decodeManifest reads a manifest and checks its form: known schema, sane paths, the promised order.
func decodeManifest(b []byte) (Manifest, error) {
	var m Manifest
	if err := decodeStrict(b, &m); err != nil {
		return Manifest{}, err
	}
	if m.Schema != Schema {
		return Manifest{}, fmt.Errorf("schema %q is not %s", m.Schema, Schema)
	}
	if !isName(m.Run) {
		return Manifest{}, fmt.Errorf("%q is no id of a run", m.Run)
	}
	if len(m.Files) == 0 || m.Files[0].Path != result.FileName {
		return Manifest{}, fmt.Errorf("the first file is not %s", result.FileName)
	}
	for i := range m.Files {
		if err := m.checkFile(i); err != nil {
			return Manifest{}, err
		}
	}
	return m, nil
}

func (m Manifest) checkFile(i int) error {
	f := m.Files[i]
	switch {
	case !fs.ValidPath(f.Path) || f.Path == "." || f.Path == manifestName || f.Path == signatureName:
		return fmt.Errorf("%q cannot be the path of a file", f.Path)
	case f.Bytes < 0 || len(f.SHA256) != 2*sha256.Size:
		return fmt.Errorf("size or hash of %q is malformed", f.Path)
	case i > 1 && f.Path <= m.Files[i-1].Path, i > 0 && f.Path == result.FileName:
		return fmt.Errorf("%q stands at a wrong place", f.Path)
	}
	return nil
}

// isName tells whether s can be one component of a path.
func isName(s string) bool {
	return fs.ValidPath(s) && s != "." && !bytes.ContainsAny([]byte(s), "/\\")
}

func decodeStrict(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if len(bytes.TrimSpace(b[d.InputOffset():])) > 0 {
		return errors.New("something follows the document")
	}
	return nil
}

// newManifest lists the result document and the artifacts it names.
func newManifest(r result.Result, document []byte) Manifest {
	sum := sha256.Sum256(document)
	files := slices.Clone(r.Artifacts)
	slices.SortFunc(files, func(a, b result.Artifact) int { return bytes.Compare([]byte(a.Path), []byte(b.Path)) })
	first := result.Artifact{Path: result.FileName, SHA256: fmt.Sprintf("%x", sum), Bytes: int64(len(document))}
	return Manifest{Schema: Schema, Run: r.Run.ID, Files: append([]result.Artifact{first}, files...)}
}
