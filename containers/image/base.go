package image

import (
	"context"
	"fmt"

	"github.com/docker/docker/client"
	"github.com/google/go-containerregistry/pkg/name"

	"assay/fault"
)

// Base says whether an image is built from another: the other's layers are its lowest ones, compared by the digests of their contents.
type Base struct {
	Image    string   `json:"image"`  // name@sha256:… as the plan writes it
	Proved   bool     `json:"proved"` // every layer is the same
	Layers   []string `json:"layers,omitempty"`
	Shared   int      `json:"shared"`             // how many layers are the same, from the lowest on
	Want     string   `json:"want,omitempty"`     // the first layer of the base that differs
	Have     string   `json:"have,omitempty"`     // what the image has in its place; "" when it ends there
	Unproved string   `json:"unproved,omitempty"` // why it is not proved
	Source   string   `json:"told_by,omitempty"`  // engine | registry: who told the base's layers
}

// prove compares an image's layers with its base's. Without proof the image is refused, unless what is not pinned is allowed.
func prove(ctx context.Context, c *client.Client, w Wanted, layers []string, e engine) (*Base, error) {
	if w.Base == "" {
		return nil, nil
	}
	ref, err := name.NewDigest(w.Base)
	if err != nil {
		return nil, fault.New(fault.Image, "invalid", "write server.base_image: name@sha256:<64 hex>", "%q is no image with a digest: %w", w.Base, err)
	}
	b := Base{Image: w.Base}
	var unknown error
	if b.Layers, b.Source, unknown = baseLayers(ctx, c, ref, e); unknown != nil {
		b.Unproved = fault.Of(unknown, fault.Image).Text
	} else {
		b.compare(layers)
	}
	if b.Proved || w.Unpinned {
		return &b, nil
	}
	if unknown != nil {
		return nil, fault.New(fault.Image, "base_unknown", "pull the base image or load it, so that its layers can be compared", "image %s is not proved to be built from %s: %w", w.Image, w.Base, unknown)
	}
	return nil, fault.New(fault.Image, "base_differs", "build it FROM the digest that the plan names, or name the one it was built from", "image %s is not built from %s: %s", w.Image, w.Base, b.Unproved)
}

func (b *Base) compare(layers []string) {
	b.Shared = same(b.Layers, layers)
	if b.Proved = b.Shared == len(b.Layers) && b.Shared > 0; b.Proved {
		return
	}
	if b.Shared == len(b.Layers) {
		b.Unproved = "the base has no layers"
		return
	}
	b.Want = b.Layers[b.Shared]
	b.Unproved = fmt.Sprintf("layer %d of %d of the base is %s, and the image ends before it", b.Shared+1, len(b.Layers), b.Want)
	if b.Shared < len(layers) {
		b.Have = layers[b.Shared]
		b.Unproved = fmt.Sprintf("layer %d of %d of the base is %s, the image has %s", b.Shared+1, len(b.Layers), b.Want, b.Have)
	}
}

// baseLayers are the layers of a base image, of the engine's copy or as the registry tells.
func baseLayers(ctx context.Context, c *client.Client, ref name.Reference, e engine) (layers []string, source string, err error) {
	img, found, err := stored(ctx, c, ref, manifest{})
	if err != nil {
		return nil, "", err
	}
	if found && proved(img, ref, manifest{}) && img.Architecture == e.arch {
		return img.RootFS.Layers, "engine", nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookupLimit)
	defer cancel()
	auth, err := credentials(ctx, ref)
	if err != nil {
		return nil, "", err
	}
	m, err := lookup(ctx, ref, auth, e.platform())
	return m.layers, "registry", err
}
