package image

import (
	"context"
	"fmt"
	"strings"

	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sys/unix"

	"assay/fault"
)

// engine is what matters here of a container engine.
type engine struct {
	os, arch string
	root     string // where it keeps its images; "" on another machine, whose disk is not seen here
	store    string // "overlay2", …; "containerd" when images are kept there and named by their manifest
}

func (e engine) platform() v1.Platform { return v1.Platform{OS: e.os, Architecture: e.arch} }

func engineOf(ctx context.Context, c *client.Client) (engine, error) {
	v, err := c.ServerVersion(ctx)
	if err != nil {
		return engine{}, fmt.Errorf("ask the docker engine for its version: %w", err)
	}
	e := engine{os: v.Os, arch: v.Arch}
	info, err := c.Info(ctx)
	if err != nil {
		return engine{}, fmt.Errorf("ask the docker engine about itself: %w", err)
	}
	e.root, e.store = info.DockerRootDir, info.Driver
	for _, s := range info.DriverStatus {
		if s[0] == "driver-type" && s[1] == "io.containerd.snapshotter.v1" {
			e.store, e.root = "containerd", "/var/lib/containerd"
		}
	}
	if !strings.HasPrefix(c.DaemonHost(), "unix:") {
		e.root = "" // a folder of that name here is another disk
	}
	return e, nil
}

// present counts the layers of an image, from the lowest on, that the engine has in other images: they are not fetched again.
func present(ctx context.Context, c *client.Client, layers []string) (int, error) {
	all, err := c.ImageList(ctx, image.ListOptions{})
	if err != nil {
		return 0, fmt.Errorf("list the engine's images: %w", err)
	}
	most := 0
	for _, s := range all {
		img, err := c.ImageInspect(ctx, s.ID)
		if err != nil {
			continue // removed meanwhile
		}
		most = max(most, same(layers, img.RootFS.Layers))
	}
	return most, nil
}

// same counts the layers that two images share, from the lowest on.
func same(a, b []string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// freeBytes is the space left at a path. An engine elsewhere has none that is seen here.
func freeBytes(path string) (int64, bool) {
	var s unix.Statfs_t
	if path == "" || unix.Statfs(path, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}

// unpacked is how much room an image takes while it arrives, in parts of ten of what is sent: the packed layer beside its contents,
// which are about twice as large.
const unpacked = 25

// enough refuses an image that cannot fit, before hours of download. Where nothing is known nothing is refused.
func (e engine) enough(what string, sent int64) error {
	free, known := freeBytes(e.root)
	need := sent * unpacked / 10
	if !known || sent == 0 || free >= need {
		return nil
	}
	return fault.New(fault.Image, "disk_full", causeNamed("disk_full").hint, "image %s needs about %s in %s, where %s are free: %s are to come, and take more when unpacked",
		what, size(need), e.root, size(free), size(sent))
}

// size writes bytes so that a small one is not 0.0 GB.
func size(n int64) string {
	if n < 1e9 {
		return fmt.Sprintf("%d MB", n/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
