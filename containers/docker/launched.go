package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/docker/docker/client"

	"assay/containers/inside"
	"assay/containers/instance"
	"assay/containers/launch"
	"assay/fault"
)

// imageID is the id that a container of the spec must have, "" when it was not prepared.
func imageID(s instance.Spec) string {
	if s.Prepared == nil {
		return ""
	}
	return s.Prepared.ID
}

// recordLaunch notes what the engine made of what it was asked for, keeps all that it says in the run's folder, and counts the GPUs inside. A
// container that has ended by itself is left to whoever waits for it.
func (b *box) recordLaunch(ctx context.Context, terms launch.Terms, asked launch.Settings) error {
	in, err := b.client.ContainerInspect(ctx, b.id)
	if err != nil {
		return fmt.Errorf("inspect the container of the %s: %w", b.spec.Role, err)
	}
	r := terms.OfContainer(asked, in, withoutInit(in.Path, in.Args), b.spec.Secrets, "/proc")
	doc, err := json.MarshalIndent(launch.Inspected(in, b.spec.Secrets), "", "  ")
	if err != nil {
		return fmt.Errorf("encode what the engine says of the container of the %s: %w", b.spec.Role, err)
	}
	file := strings.TrimSuffix(b.LogPath(), ".log") + ".inspect.json"
	if err := os.WriteFile(file, append(doc, '\n'), 0o644); err != nil {
		return fmt.Errorf("keep what the engine says of the container of the %s: %w", b.spec.Role, err)
	}
	r.File = filepath.Base(file)
	if in.State != nil && in.State.Running {
		others, err := terms.Count(ctx, "/proc", in.State.Pid, inside.Container{Client: b.client, ID: b.id}.Run)
		if err != nil {
			return err
		}
		if others != "" {
			r.Differs = append(r.Differs, others)
		}
	}
	b.identity.Launch = &r
	return nil
}

// containerIdentity is what the engine made of the spec: the image it chose and the whole command line.
func containerIdentity(ctx context.Context, c *client.Client, s instance.Spec, id string) (instance.Identity, error) {
	in, err := c.ContainerInspect(ctx, id)
	if err != nil {
		return instance.Identity{}, fmt.Errorf("inspect the container of the %s: %w", s.Role, err)
	}
	if s.Prepared != nil && s.Prepared.ID != in.Image {
		return instance.Identity{}, fault.New(fault.Image, "digest_mismatch", "run again", "the container of the %s runs image %s, not %s", s.Role, in.Image, s.Prepared.ID)
	}
	i := instance.Identity{Role: s.Role, Runtime: "docker", Name: s.Name(), Image: s.Image, ImageID: in.Image, ImageFacts: s.Prepared, Argv: withoutInit(in.Path, in.Args)}
	if s.Prepared != nil && s.Prepared.Unpinned && s.Prepared.Pinned != "" {
		i.Image = s.Prepared.Pinned // what the tag meant
	}
	return i, nil
}
