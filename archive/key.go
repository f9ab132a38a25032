package archive

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"assay/fault"
)

// KeyName is the file of a data directory's signing key: PKCS #8 in PEM, readable by its owner alone.
const KeyName = "signing.key"

const pemType = "PRIVATE KEY"

// LoadOrCreateKey gives the signing key of a data directory, and makes one where there is none. Of several programs that make one
// at the same time all get the same.
func LoadOrCreateKey(dir string) (ed25519.PrivateKey, error) {
	path := filepath.Join(dir, KeyName)
	key, err := loadKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	err = createKey(path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fault.New(fault.Archive, "key_not_made", "make the data directory writable, or choose another with --data", "make signing key: %w", err)
	}
	return loadKey(path)
}

func loadKey(path string) (ed25519.PrivateKey, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read signing key: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fault.New(fault.Archive, "key_open", "chmod 600 "+path, "the signing key %s can be read by others (mode %#o)", path, info.Mode().Perm())
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fault.New(fault.Archive, "key_unreadable", "make it readable for this user", "read signing key: %w", err)
	}
	key, err := parseKey(b)
	if err != nil {
		return nil, fault.New(fault.Archive, "key_bad", "restore it from a backup, or move it away to get a new one", "read signing key %s: %w", path, err)
	}
	return key, nil
}

func parseKey(b []byte) (ed25519.PrivateKey, error) {
	block, _ := pem.Decode(b)
	if block == nil || block.Type != pemType {
		return nil, errors.New("no private key in PEM form")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("a key of type %T, want Ed25519", parsed)
	}
	return key, nil
}

// createKey writes a new key under a temporary name and links it to its own: the first one to do so wins.
func createKey(path string) (err error) {
	text, err := newKey()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+KeyName+".*.tmp") // mode 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Link(f.Name(), path)
}

func newKey() ([]byte, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: der}), err
}
