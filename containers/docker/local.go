package docker

import (
	"context"

	"github.com/google/go-containerregistry/pkg/name"
)

// LocalImage is an image that the engine has under a tag, as name@sha256:<its id>, which pins it where no registry has it; "" when the engine does
// not have it or does not answer.
func (r Runtime) LocalImage(ctx context.Context, tag string) string {
	ref, err := name.ParseReference(tag)
	if err != nil {
		return ""
	}
	c, err := r.connect(ctx)
	if err != nil {
		return ""
	}
	defer c.Close()
	img, err := c.ImageInspect(ctx, tag)
	if err != nil {
		return ""
	}
	return ref.Context().Digest(img.ID).String()
}
