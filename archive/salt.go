package archive

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
)

// Salt is what hashes of serial numbers are mixed with in the documents of a data directory. It is made of the directory's signing key, so
// that one device has one hash in all its runs, and nobody without the key can try numbers. Without a key that can be read it is random:
// then it is not lasting, and hashes are equal within one document alone. Nothing is written.
func Salt(dir string) (salt string, lasting bool) {
	seed := make([]byte, 32)
	if key, err := loadKey(filepath.Join(dir, KeyName)); err == nil {
		seed, lasting = key.Seed(), true
	} else {
		rand.Read(seed) //nolint:errcheck // never fails (crypto/rand)
	}
	mac := hmac.New(sha256.New, seed)
	mac.Write([]byte("assay: salt of serial numbers"))
	return hex.EncodeToString(mac.Sum(nil)), lasting
}
