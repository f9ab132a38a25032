package containers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/registry"
	"github.com/docker/docker/client"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"assay/containers/engine"
	"assay/fault"
)

// pullStall is how long a pull may show no progress. The engine itself retries a layer for some minutes.
const pullStall = 15 * time.Minute

func isNotFound(err error) bool { return errdefs.IsNotFound(err) }

// Prepare makes sure that the image is there and is the one that was pinned. Only a missing image is pulled: the engine asks the
// registry even for one that it has.
func (d docker) Prepare(ctx context.Context, s Spec, progress func(Pull)) error {
	ref, err := imageReference(s)
	if err != nil {
		return err
	}
	c, err := d.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.ImageInspect(ctx, s.Image)
	switch {
	case err == nil:
		progress(Pull{Status: "already present"})
	case !isNotFound(err):
		return fault.New(fault.Image, "inspect_failed", "look at the engine's log", "image %s cannot be inspected: %w", s.Image, err)
	default:
		if err := pull(ctx, c, ref, s.Image, progress); err != nil {
			return err
		}
	}
	return verifyImage(ctx, c, ref, s.Image)
}

// imageReference parses the image of a spec; a tag may move, so it is refused unless the plan allows it.
func imageReference(s Spec) (name.Reference, error) {
	if s.Image == "" {
		return nil, fault.New(fault.Image, "missing", "write image: name@sha256:<64 hex>", "the %s has no image", s.Role)
	}
	ref, err := name.ParseReference(s.Image)
	if err != nil {
		return nil, fault.New(fault.Image, "invalid", "write it as name@sha256:<64 hex>", "%q is not an image reference: %w", s.Image, err)
	}
	if _, pinned := ref.(name.Digest); !pinned && !s.Unpinned {
		return nil, fault.New(fault.Image, "unpinned", "`assay plan pin` writes the digest; or set allow_unpinned: true, and the result will say so",
			"image %s has no digest: what it names can change", s.Image)
	}
	return ref, nil
}

// pull fetches an image. The engine answers 200 before anything can go wrong, so the stream's messages tell how it went.
func pull(ctx context.Context, c *client.Client, ref name.Reference, text string, progress func(Pull)) error {
	auth, err := registryAuth(ref)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stall := time.AfterFunc(pullStall, func() { cancel(errStalled) })
	defer stall.Stop()
	body, err := c.ImagePull(ctx, text, image.PullOptions{RegistryAuth: auth})
	if err != nil {
		return pullFault(ctx, text, err, "")
	}
	defer body.Close()
	message, err := drainPull(body, func(p Pull) {
		stall.Reset(pullStall)
		progress(p)
	})
	if err != nil || message != "" {
		return pullFault(ctx, text, err, message)
	}
	return nil
}

var errStalled = errors.New("no progress")

// pullMessage is a line of the engine's answer.
type pullMessage struct {
	ID       string
	Status   string
	Error    string
	Progress struct{ Current, Total int64 } `json:"progressDetail"`
	Detail   struct{ Message string }       `json:"errorDetail"`
}

// drainPull reads an answer to its end; message is the engine's word on what went wrong.
func drainPull(r io.Reader, progress func(Pull)) (message string, err error) {
	dec := json.NewDecoder(r)
	for {
		var m pullMessage
		if err := dec.Decode(&m); errors.Is(err, io.EOF) {
			return "", nil
		} else if err != nil {
			return "", fmt.Errorf("read the engine's answer: %w", err)
		}
		if text := cmp.Or(m.Detail.Message, m.Error); text != "" {
			return text, nil
		}
		progress(Pull{Layer: m.ID, Status: m.Status, Done: m.Progress.Current, Total: m.Progress.Total})
	}
}

// pullFault says what a failed pull means.
func pullFault(ctx context.Context, image string, err error, message string) error {
	if cause := context.Cause(ctx); errors.Is(cause, errStalled) {
		return fault.New(fault.Image, "pull_failed", "check the network, then run again: finished layers are kept", "pull of %s made no progress for %s", image, pullStall)
	} else if cause != nil {
		return fmt.Errorf("pull %s: %w", image, cause)
	}
	text := message
	if err != nil {
		text = err.Error()
	}
	switch {
	case isNotFound(err) || engine.ContainsAny(message, []string{"manifest unknown", "not found"}):
		return fault.New(fault.Image, "not_found", "check name and digest; registries delete old nightly images, and a private one needs `docker login`", "image %s is not in its registry: %s", image, text)
	case engine.ContainsAny(message, []string{"no space left on device"}):
		return fault.New(fault.Image, "disk_full", "free space where Docker keeps its data: an image needs about three times its download", "image %s does not fit on the disk: %s", image, text)
	case errdefs.IsUnauthorized(err) || engine.ContainsAny(message, []string{"unauthorized", "no basic auth credentials", "denied"}):
		return fault.New(fault.Image, "unauthorized", "`docker login` to the registry as the user that runs assay", "the registry of %s refuses: %s", image, text)
	}
	return fault.New(fault.Image, "pull_failed", "check that the machine reaches the registry", "image %s could not be pulled: %s", image, text)
}

// verifyImage compares what the engine stored with what was pinned. An image can have several digests: of its index and of
// its platform's manifest.
func verifyImage(ctx context.Context, c *client.Client, ref name.Reference, text string) error {
	img, err := c.ImageInspect(ctx, text)
	if err != nil {
		return fault.New(fault.Image, "not_stored", "look at the engine's log", "image %s was pulled but the engine does not have it: %w", text, err)
	}
	if d, pinned := ref.(name.Digest); pinned && !slices.ContainsFunc(img.RepoDigests, func(have string) bool { return sameDigest(have, d) }) {
		return fault.New(fault.Image, "digest_mismatch", "remove the image and run again", "the engine's image for %s has other digests: %s", text, strings.Join(img.RepoDigests, ", "))
	}
	v, err := c.ServerVersion(ctx)
	if err != nil {
		return fmt.Errorf("ask the docker engine for its version: %w", err)
	}
	if img.Architecture != v.Arch {
		return fault.New(fault.Image, "wrong_platform", "pin the digest of the index, or of the manifest for "+v.Arch, "image %s is for %s, this machine is %s", text, img.Architecture, v.Arch)
	}
	return nil
}

func sameDigest(have string, want name.Digest) bool {
	d, err := name.NewDigest(have)
	return err == nil && d.DigestStr() == want.DigestStr() && d.Context().Name() == want.Context().Name()
}

// registryAuth looks the user's credentials up: the engine only forwards what it is given.
func registryAuth(ref name.Reference) (string, error) {
	a, err := authn.DefaultKeychain.Resolve(ref.Context())
	if err != nil {
		return "", fault.New(fault.Image, "credentials_unreadable", "check ~/.docker/config.json", "credentials for %s: %w", ref.Context().RegistryStr(), err)
	}
	cfg, err := a.Authorization()
	if err != nil {
		return "", fault.New(fault.Image, "credentials_unreadable", "check the credential helper of ~/.docker/config.json", "credentials for %s: %w", ref.Context().RegistryStr(), err)
	}
	if *cfg == (authn.AuthConfig{}) {
		return "", nil
	}
	return registry.EncodeAuthConfig(registry.AuthConfig{Username: cfg.Username, Password: cfg.Password, Auth: cfg.Auth,
		IdentityToken: cfg.IdentityToken, RegistryToken: cfg.RegistryToken, ServerAddress: ref.Context().RegistryStr()})
}
