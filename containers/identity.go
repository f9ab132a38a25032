package containers

import (
	"cmp"
	"slices"
	"strings"

	"assay/containers/engine"
)

// Started is the identity of what was started, before it has said anything of itself.
func Started(inst Instance) Identity {
	var each []Identity
	for _, m := range Members(inst) {
		each = append(each, m.Identity())
	}
	return together(inst.Identity(), each)
}

// together is the identity of servers that share the requests. Alone, a server's own is.
func together(all Identity, each []Identity) Identity {
	if len(each) == 1 {
		return each[0]
	}
	all.Models = each[0].Models
	var versions, names []string
	told := true
	for _, id := range each {
		names = append(names, id.Name)
		if id.Version != "" && !slices.Contains(versions, id.Version) {
			versions = append(versions, id.Version)
		}
		if all.MaxModelLen == 0 || id.MaxModelLen > 0 && id.MaxModelLen < all.MaxModelLen {
			all.MaxModelLen = id.MaxModelLen
		}
		told = told && id.KVTokens > 0
		all.KVTokens += id.KVTokens
	}
	all.Name = cmp.Or(all.Name, strings.Join(names, ", "))
	if all.Version = strings.Join(versions, ", "); !told {
		all.KVTokens = 0
	}
	return inCommon(all, each)
}

// inCommon adds what is the same for each. An image has a long description, which stands once.
func inCommon(all Identity, each []Identity) Identity {
	first := each[0]
	all.Quantization, all.DType = same(each, func(i Identity) string { return i.Quantization }), same(each, func(i Identity) string { return i.DType })
	all.BinarySHA256 = same(each, func(i Identity) string { return i.BinarySHA256 })
	all.Image, all.ImageID = same(each, func(i Identity) string { return i.Image }), same(each, func(i Identity) string { return i.ImageID })
	all.Settings = slices.DeleteFunc(slices.Clone(first.Settings), func(s engine.Setting) bool {
		return slices.ContainsFunc(each, func(i Identity) bool {
			other, ok := engine.Found(i.Settings, s.Name)
			return !ok || other.Value != s.Value
		})
	})
	all.Servers = slices.Clone(each)
	if all.ImageID == "" {
		return all
	}
	all.ImageFacts = first.ImageFacts
	for i := range all.Servers {
		all.Servers[i].ImageFacts = nil
	}
	return all
}

// same is a text that all have, or "".
func same(each []Identity, of func(Identity) string) string {
	first := of(each[0])
	if slices.ContainsFunc(each, func(i Identity) bool { return of(i) != first }) {
		return ""
	}
	return first
}
