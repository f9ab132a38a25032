package image

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"assay/fault"
)

// manifest is what a registry or a file tells of an image: its digests and its layers.
type manifest struct {
	index, digest, config string // sha256:…; "" where there is none or it is not told
	platform              v1.Platform
	blobs                 []v1.Descriptor // compressed layers, in order
	layers                []string        // diff ids: digests of the layers' contents, in order
}

// known tells whether anything is.
func (m manifest) known() bool { return m.config != "" }

// names tells whether a digest is one of the image's.
func (m manifest) names(digest string) bool {
	return digest != "" && slices.Contains([]string{m.index, m.digest, m.config}, digest)
}

// lookup asks the registry for the digests, sizes and layers of an image on a platform. What it gives was checked against its digests.
func lookup(ctx context.Context, ref name.Reference, auth account, platform v1.Platform) (manifest, error) {
	d, err := remote.Get(ref, auth.options(ctx)...)
	if err != nil {
		return manifest{}, registryFault(ref.String(), err)
	}
	m, err := described(ref, d, platform)
	if err != nil {
		return manifest{}, registryFault(ref.String(), err)
	}
	return m, nil
}

func described(ref name.Reference, d *remote.Descriptor, platform v1.Platform) (manifest, error) {
	if !d.MediaType.IsIndex() {
		img, err := d.Image()
		if err != nil {
			return manifest{}, err
		}
		return manifest{}.with(img)
	}
	img, err := ofPlatform(ref, d, platform)
	if err != nil {
		return manifest{}, err
	}
	return manifest{index: d.Digest.String()}.with(img)
}

func ofPlatform(ref name.Reference, d *remote.Descriptor, platform v1.Platform) (v1.Image, error) {
	idx, err := d.ImageIndex()
	if err != nil {
		return nil, fmt.Errorf("read the index: %w", err)
	}
	list, err := idx.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("read the index: %w", err)
	}
	entry, err := choose(ref.String(), list.Manifests, platform)
	if err != nil {
		return nil, err
	}
	return idx.Image(entry.Digest)
}

// choose finds the entry of an index for a platform.
func choose(ref string, entries []v1.Descriptor, platform v1.Platform) (v1.Descriptor, error) {
	var others []string
	for _, e := range entries {
		if e.Platform == nil || e.Platform.Satisfies(platform) {
			return e, nil
		}
		if e.Platform.OS != "unknown" { // an attestation
			others = append(others, e.Platform.String())
		}
	}
	return v1.Descriptor{}, fault.New(fault.Image, "platform_missing", causeNamed("platform_missing").hint,
		"image %s is for %s, this machine is %s", ref, strings.Join(others, ", "), platform.String())
}

// with adds what an image tells of itself.
func (m manifest) with(img v1.Image) (manifest, error) {
	digest, err := img.Digest()
	if err != nil {
		return m, err
	}
	list, err := img.Manifest()
	if err != nil {
		return m, err
	}
	cfg, err := img.ConfigFile()
	if err != nil {
		return m, err
	}
	if cfg == nil {
		return m, errors.New("the image has no configuration")
	}
	m.digest, m.config, m.blobs = digest.String(), list.Config.Digest.String(), list.Layers
	return m.configured(cfg), nil
}

func (m manifest) configured(cfg *v1.ConfigFile) manifest {
	m.platform = v1.Platform{OS: cfg.OS, Architecture: cfg.Architecture, Variant: cfg.Variant}
	for _, d := range cfg.RootFS.DiffIDs {
		m.layers = append(m.layers, d.String())
	}
	return m
}

// bytes is the size of the layers from one on, as they are sent.
func (m manifest) bytes(from int) int64 {
	var n int64
	for _, b := range m.blobs[min(from, len(m.blobs)):] {
		n += b.Size
	}
	return n
}
