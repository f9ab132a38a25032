package image

import (
	"context"
	"fmt"
	"time"

	"github.com/google/go-containerregistry/pkg/name"

	"assay/fault"
)

// Wanted is the image of a plan.
type Wanted struct {
	Role     string // server | router
	Image    string // name@sha256:…, or a name with a tag when Unpinned
	Unpinned bool   // an image without digest is accepted
	File     string // where the image is loaded from in place of a registry: what `docker save` wrote, or an OCI layout; "" for none
	Base     string // name@sha256:… of the image that this one must be built from; "" for none
}

// lookupLimit bounds a question to a registry whose answer is good to have and no more.
const lookupLimit = 8 * time.Second

// parse reads the image's name; a tag may move, so it is refused unless the plan allows it.
func (w Wanted) parse(ctx context.Context) (name.Reference, error) {
	if w.Image == "" {
		return nil, fault.New(fault.Image, "missing", "write image: name@sha256:<64 hex>", "the %s has no image", w.Role)
	}
	ref, err := name.ParseReference(w.Image)
	if err != nil {
		return nil, fault.New(fault.Image, "invalid", "write it as name@sha256:<64 hex>", "%q is not an image reference: %w", w.Image, err)
	}
	if _, pinned := ref.(name.Digest); !pinned && !w.Unpinned {
		return nil, fault.New(fault.Image, "unpinned", "`assay plan pin` writes the digest; or allow it (allow_unpinned: true, --allow-unpinned), and the result will say so",
			"image %s has no digest: what it names can change%s", w.Image, Now(ctx, w.Image))
	}
	return ref, nil
}

// Now says what a tag names at this moment, as the end of a sentence; nothing when its registry does not tell in time.
func Now(ctx context.Context, ref string) string {
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	pinned, err := ResolveDigest(ctx, ref)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("; now it is %s", pinned)
}

// pinned is the digest of a reference, "" of a tag.
func pinned(ref name.Reference) string {
	if d, ok := ref.(name.Digest); ok {
		return d.DigestStr()
	}
	return ""
}
