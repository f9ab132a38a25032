package host

import (
	"slices"
	"strings"
)

// SafeMountOptions keeps of a mount's options those that move results; others may hold servers, users or passwords.
func SafeMountOptions(options ...string) string {
	known := []string{
		"ro", "rw", "noatime", "relatime", "strictatime", "lazytime", "nodiratime", "sync", "async", "discard", "dax", "barrier", "nobarrier", "data", "nodelalloc",
		"inode64", "largeio", "allocsize", "logbsize", "sunit", "swidth", "noquota", "ssd", "compress", "compress-force", "nodatacow", "nodatasum", "degraded",
		"rsize", "wsize", "vers", "proto", "nconnect", "hard", "soft", "noac", "cache", "local_lock", "max_read",
	}
	var kept []string
	for _, list := range options {
		for option := range strings.SplitSeq(list, ",") {
			name, _, _ := strings.Cut(option, "=")
			if slices.Contains(known, name) && !slices.Contains(kept, option) {
				kept = append(kept, option)
			}
		}
	}
	return strings.Join(kept, ",")
}
