package disguise

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
)

// ByID finds the names of disks that are made of their model and serial number, in a path and alone, and of their number in the world.
func ByID() *regexp.Regexp {
	const end = `[^/\s"'<>,;)]`
	return regexp.MustCompile(`(/by-id/)(` + end + `+)|\b((?:nvme|ata|scsi)-(?:eui\.|nvme\.)?|wwn-0x)(` + end + `*(?:[_.]|[0-9a-f]{12})` + end + `*)|\b(3(?:5[0-9a-f]{15}|6[0-9a-f]{31}))\b`)
}

// Disks gives a function that puts device-<hash> in the place of such names: one name stays one name within a capture, and is found by
// trying in none, since each capture has a key of its own.
func Disks() func(string) string {
	key := make([]byte, 16)
	rand.Read(key) //nolint:errcheck // never fails (crypto/rand)
	name, cleaned := ByID(), regexp.MustCompile(`^device-[0-9a-f]{8}$`)
	return func(s string) string {
		return name.ReplaceAllStringFunc(s, func(found string) string {
			m := name.FindStringSubmatch(found)
			prefix, number := m[1]+m[3], m[2]+m[4]+m[5]
			if cleaned.MatchString(number) {
				return found
			}
			sum := sha256.Sum256(append(key[:16:16], number...))
			return prefix + "device-" + hex.EncodeToString(sum[:4])
		})
	}
}
