package host

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"strings"
)

// hashMark stands before a serial number that a capture holds as its hash.
const hashMark = "hash:"

// IsHash tells a serial number that a capture holds as its hash.
func IsHash(s string) bool { return strings.HasPrefix(s, hashMark) }

// SerialHash names a device over time without giving its serial number away. Only numbers with 64 or more bits that cannot be
// guessed are hashed (UUIDs, unique ids), because a 13-digit serial number could be found by trying.
func SerialHash(serial string) string {
	if rest, ok := strings.CutPrefix(serial, hashMark); ok {
		return rest
	}
	sum := sha256.Sum256([]byte("assay serial number\n" + strings.ToLower(serial)))
	return hex.EncodeToString(sum[:8])
}

// salted mixes a hash with the host's salt: one device has the same hash in every document of a site, and another one elsewhere.
func (h Host) salted(hash string) string {
	if h.Salt == "" || hash == "" {
		return hash
	}
	mac := hmac.New(sha256.New, []byte(h.Salt))
	mac.Write([]byte(hash))
	return hex.EncodeToString(mac.Sum(nil)[:8])
}

// marked is a serial number as a capture holds it; one that is marked already stays.
func (h Host) marked(serial string) string {
	if IsHash(serial) {
		return serial
	}
	return hashMark + h.salted(SerialHash(serial))
}

// SaltHashes mixes the host's salt into every fact below v that is a hash by its field's name. v is a struct that can be set.
func SaltHashes(h Host, v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			SaltHashes(h, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if fact := v.Field(i); strings.HasSuffix(v.Type().Field(i).Name, "Hash") && fact.Kind() == reflect.Struct {
				hash := fact.FieldByName("Value")
				hash.SetString(h.salted(hash.String()))
				continue
			}
			SaltHashes(h, v.Field(i))
		}
	}
}
