package containers

import (
	"slices"
	"strings"
)

// together is the identity of servers that share the requests. Alone, a server's own is.
func together(all Identity, each []Identity) Identity {
	if len(each) == 1 {
		return each[0]
	}
	all.Servers, all.Models = each, each[0].Models
	var versions []string
	told := true
	for _, id := range each {
		if id.Version != "" && !slices.Contains(versions, id.Version) {
			versions = append(versions, id.Version)
		}
		if all.MaxModelLen == 0 || id.MaxModelLen > 0 && id.MaxModelLen < all.MaxModelLen {
			all.MaxModelLen = id.MaxModelLen
		}
		told = told && id.KVTokens > 0
		all.KVTokens += id.KVTokens
	}
	if all.Version = strings.Join(versions, ", "); !told {
		all.KVTokens = 0
	}
	return all
}
