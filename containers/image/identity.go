package image

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"assay/fault"
	"assay/plan"
)

// Identity is what an image is: what was asked for, and by which digests it is known.
type Identity struct {
	Requested      string `json:"requested"`                 // as the plan writes it
	Pinned         string `json:"pinned,omitempty"`          // name@sha256:… of what ran; for a tag what it meant
	Unpinned       bool   `json:"unpinned,omitempty"`        // the plan had a tag: another time it may mean another image
	IndexDigest    string `json:"index_digest,omitempty"`    // of the list of platforms
	ManifestDigest string `json:"manifest_digest,omitempty"` // of this platform's manifest
	ConfigDigest   string `json:"config_digest,omitempty"`   // of the configuration
	ID             string `json:"id"`                        // the engine's name of it
	Store          string `json:"store,omitempty"`           // how the engine keeps images: overlay2, containerd, …
	Unknown        string `json:"unknown,omitempty"`         // why digests of the registry are not told
	File           string `json:"file,omitempty"`            // what it was loaded from

	OS           string            `json:"os,omitempty"`
	Architecture string            `json:"architecture,omitempty"`
	Variant      string            `json:"variant,omitempty"`
	Layers       []string          `json:"layers,omitempty"` // digests of the layers' contents (diff ids), the lowest first
	Labels       map[string]string `json:"labels,omitempty"` // without credentials
	Created      string            `json:"created,omitempty"`
	SizeBytes    int64             `json:"size_bytes,omitempty"`

	Base *Base `json:"base,omitempty"` // nil when the plan names none
}

// stored finds an image in the engine by its name, else by one of its digests: one that was loaded from a file has no name.
func stored(ctx context.Context, c *client.Client, ref name.Reference, m manifest) (image.InspectResponse, bool, error) {
	for _, by := range []string{ref.String(), pinned(ref), m.config, m.digest, m.index} {
		if by == "" {
			continue
		}
		img, err := c.ImageInspect(ctx, by)
		if err == nil {
			return img, true, nil
		}
		if !isNotFound(err) {
			return img, false, fault.New(fault.Image, "inspect_failed", "look at the engine's log", "image %s cannot be inspected: %w", ref, err)
		}
	}
	return image.InspectResponse{}, false, nil
}

// verify compares what the engine has with what was pinned, and with this machine.
func verify(img image.InspectResponse, ref name.Reference, m manifest, e engine) error {
	if d := pinned(ref); d != "" && !proved(img, ref, m) {
		return fault.New(fault.Image, "digest_mismatch", "remove the image and run again", "the engine's image for %s is another: %s, known as %v", ref, img.ID, img.RepoDigests)
	}
	if img.Architecture != e.arch || img.Os != "" && e.os != "" && img.Os != e.os {
		return fault.New(fault.Image, "wrong_platform", "pin the digest of the index, or of the manifest for "+e.arch, "image %s is for %s, this machine is %s", ref, platformOf(img).String(), e.platform().String())
	}
	return nil
}

// proved tells whether the engine's image is the pinned one: by a digest of its name, by its own, or by a manifest that links the two.
func proved(img image.InspectResponse, ref name.Reference, m manifest) bool {
	d := pinned(ref)
	return img.ID == d || m.names(d) && m.names(img.ID) ||
		slices.ContainsFunc(img.RepoDigests, func(have string) bool { return ofRepository(have, ref) == d })
}

// ofRepository is the digest of a name@digest, "" when it is of another repository: an image may be known by several.
func ofRepository(have string, ref name.Reference) string {
	d, err := name.NewDigest(have)
	if err != nil || d.Context().Name() != ref.Context().Name() {
		return ""
	}
	return d.DigestStr()
}

func platformOf(img image.InspectResponse) v1.Platform {
	return v1.Platform{OS: img.Os, Architecture: img.Architecture, Variant: img.Variant}
}

// unset is how engines write the date of an image that has none.
const unset = "0001-01-01T00:00:00Z"

// describe writes down what an image is.
func describe(img image.InspectResponse, w Wanted, ref name.Reference, m manifest, e engine) Identity {
	i := Identity{
		Requested: w.Image, Unpinned: pinned(ref) == "", IndexDigest: m.index, ManifestDigest: m.digest, ConfigDigest: m.config,
		ID: img.ID, Store: e.store, File: w.File, OS: img.Os, Architecture: img.Architecture, Variant: img.Variant,
		Layers: img.RootFS.Layers, Created: img.Created, SizeBytes: img.Size,
	}
	if i.Created == unset {
		i.Created = ""
	}
	if img.Config != nil {
		i.Labels = clean(img.Config.Labels)
	}
	if !m.names(img.ID) && m.known() { // the tag moved since: the registry's word is of another image
		i.IndexDigest, i.ManifestDigest, i.ConfigDigest = "", "", ""
	}
	if i.ConfigDigest == "" && e.store != "containerd" {
		i.ConfigDigest = img.ID
	}
	i.Pinned = pinnedName(img, ref, m)
	return i
}

// pinnedName is the image's name with a digest of its own repository.
func pinnedName(img image.InspectResponse, ref name.Reference, m manifest) string {
	if pinned(ref) != "" {
		return ref.Context().Name() + "@" + pinned(ref)
	}
	var own []string
	for _, have := range img.RepoDigests {
		if d := ofRepository(have, ref); d != "" {
			own = append(own, d)
		}
	}
	for _, d := range own {
		if m.names(d) {
			own = []string{d}
		}
	}
	if len(own) == 0 {
		return ""
	}
	slices.Sort(own)
	return ref.Context().Name() + "@" + own[0]
}

// clean takes credentials out of an image's labels.
func clean(labels map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range labels {
		if plan.LooksSecret(strings.ReplaceAll(name, ".", "_")) {
			value = fault.Hidden
		}
		out[name] = fault.WithoutUser(value)
	}
	return out
}

// Remarks are what a reader of the result must know of the image of a server or router.
func (i *Identity) Remarks(role string) []string {
	if i == nil {
		return nil
	}
	var out []string
	if i.Unpinned {
		out = append(out, fmt.Sprintf("the image of the %s is not pinned: %s was %s", role, i.Requested, cmp.Or(i.Pinned, i.ID)))
	}
	if i.Base != nil && !i.Base.Proved {
		out = append(out, fmt.Sprintf("the image of the %s is not proved to be built from %s: %s", role, i.Base.Image, i.Base.Unproved))
	}
	return out
}
