package image

import (
	"strings"
	"testing"

	"github.com/docker/docker/api/types/image"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
)

// TestIdentityOfATag: what the registry says of a tag is of this image only while the engine knows the image by one of those digests; when the
// tag has moved since the pull, it is of another, and what the engine itself knows is left.
func TestIdentityOfATag(t *testing.T) {
	const repository = "registry.test/lab/engine"
	sha := func(digit string) string { return "sha256:" + strings.Repeat(digit, 64) }
	ref, err := name.ParseReference(repository + ":latest")
	if err != nil {
		t.Fatal(err)
	}
	old, moved := manifest{index: sha("1"), digest: sha("2"), config: sha("3")}, manifest{index: sha("4"), digest: sha("5"), config: sha("6")}
	for _, c := range []struct {
		name, store, id string
		tells           manifest
		want            Identity
	}{
		{"the tag is where it was", "overlay2", old.config, old, Identity{IndexDigest: old.index, ManifestDigest: old.digest, ConfigDigest: old.config}},
		{"the tag has moved", "overlay2", old.config, moved, Identity{ConfigDigest: old.config}},
		{"the tag has moved, by an engine that names images by their manifest", "containerd", old.index, moved, Identity{}},
		{"the registry does not answer", "overlay2", old.config, manifest{}, Identity{ConfigDigest: old.config}},
	} {
		c.want.Requested, c.want.Unpinned, c.want.ID, c.want.Store, c.want.Pinned = ref.String(), true, c.id, c.store, repository+"@"+old.index
		img := image.InspectResponse{ID: c.id, RepoDigests: []string{repository + "@" + old.index, "registry.test/other@" + moved.index}}
		if d := cmp.Diff(c.want, describe(img, Wanted{Image: ref.String()}, ref, c.tells, engine{store: c.store})); d != "" {
			t.Errorf("%s:\n%s", c.name, d)
		}
	}
}
