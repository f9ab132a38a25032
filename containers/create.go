package containers

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/client"
	"github.com/docker/go-connections/nat"

	"assay/containers/gpu"
	"assay/fault"
)

// launch creates, fills and starts a container.
func launch(ctx context.Context, c *client.Client, s Spec) (*box, error) {
	gpus, err := gpu.Find("/", s.GPUs)
	if err != nil {
		return nil, err
	}
	id, err := create(ctx, c, s, gpus)
	if err != nil {
		return nil, err
	}
	b, err := startContainer(ctx, c, s, id)
	if err != nil {
		return nil, errors.Join(err, removeContainer(ctx, c, id))
	}
	return b, nil
}

func startContainer(ctx context.Context, c *client.Client, s Spec, id string) (*box, error) {
	if err := copyFiles(ctx, c, s, id); err != nil {
		return nil, err
	}
	identity, err := containerIdentity(ctx, c, s, id)
	if err != nil {
		return nil, err
	}
	log, err := createLog(s.Dir, s.Role)
	if err != nil {
		return nil, err
	}
	if err := c.ContainerStart(ctx, id, container.StartOptions{}); err != nil {
		return nil, errors.Join(startFault(s, err), log.Close(), os.Remove(log.Name()))
	}
	return follow(ctx, c, s, id, identity, log), nil
}

func startFault(s Spec, err error) error {
	hint := "look at the engine's log"
	if s.GPUs != "" && s.GPUs != "none" {
		hint = "check that the engine gives GPUs to containers: the NVIDIA container toolkit, or the AMD driver and its device files"
	}
	return fault.New(layerOf(s.Role), "start_failed", hint, "the container of the %s did not start: %w", s.Role, err)
}

// create makes the container. A name that a lost container of ours still has is taken from it; one of somebody else's is not.
func create(ctx context.Context, c *client.Client, s Spec, gpus gpu.Access) (string, error) {
	cfg, host := containerConfig(s, gpus)
	r, err := c.ContainerCreate(ctx, &cfg, &host, nil, nil, containerName(s))
	if errdefs.IsConflict(err) {
		if err := giveUpName(ctx, c, s); err != nil {
			return "", err
		}
		r, err = c.ContainerCreate(ctx, &cfg, &host, nil, nil, containerName(s))
	}
	if isNotFound(err) {
		return "", fault.New(fault.Image, "not_stored", "pull it first", "image %s is not on this machine", s.Image)
	}
	if err != nil {
		return "", fault.New(layerOf(s.Role), "create_failed", "check mounts and options of the server", "the container of the %s could not be created: %w", s.Role, err)
	}
	return r.ID, nil
}

func giveUpName(ctx context.Context, c *client.Client, s Spec) error {
	old, err := c.ContainerInspect(ctx, containerName(s))
	if err != nil {
		return fmt.Errorf("look at container %s: %w", containerName(s), err)
	}
	if old.Config == nil || old.Config.Labels[labelOwner] != s.Owner {
		return fault.New(layerOf(s.Role), "name_taken", "remove or rename that container", "a container of somebody else is called %s", containerName(s))
	}
	return removeContainer(ctx, c, old.ID)
}

// containerName is the same for each try of a run's role, so that a container whose creation was not heard of is found again.
func containerName(s Spec) string { return "assay-" + s.Run + "-" + s.Role }

// containerConfig is the engine's form of a spec: never privileged, never restarted, its log kept by the engine in a form that can be
// read back, and an init that passes signals on and buries orphans.
func containerConfig(s Spec, gpus gpu.Access) (container.Config, container.HostConfig) {
	yes := true
	cfg := container.Config{Image: s.Image, Entrypoint: s.Argv, Cmd: s.Args, Env: envList(s.Env), Labels: map[string]string{labelOwner: s.Owner, labelRun: s.Run, labelRole: s.Role}}
	host := container.HostConfig{
		Init:          &yes,
		NetworkMode:   "bridge",
		ShmSize:       s.ShmBytes,
		RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyDisabled},
		LogConfig:     container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "50m", "max-file": "3"}},
		GroupAdd:      gpus.Groups,
		Resources:     container.Resources{DeviceRequests: gpus.Requests},
	}
	// Kind bind under Mounts fails for a missing source; the older Binds would create it on the host.
	for _, m := range s.Mounts {
		host.Mounts = append(host.Mounts, mount.Mount{Type: mount.TypeBind, Source: m.Source, Target: m.Target, ReadOnly: !m.Writable})
	}
	for _, d := range gpus.Devices {
		host.Devices = append(host.Devices, container.DeviceMapping{PathOnHost: d, PathInContainer: d, CgroupPermissions: "rwm"})
	}
	if len(gpus.Devices) > 0 { // ROCm shares memory between ranks by ptrace calls
		host.CapAdd, host.SecurityOpt = []string{"SYS_PTRACE"}, []string{"seccomp=unconfined"}
	}
	if s.HostNet {
		host.NetworkMode = "host"
		return cfg, host
	}
	port := nat.Port(strconv.Itoa(s.Port) + "/tcp")
	cfg.ExposedPorts = nat.PortSet{port: {}}
	host.PortBindings = nat.PortMap{port: {{HostIP: "127.0.0.1", HostPort: strconv.Itoa(s.HostPort)}}}
	return cfg, host
}

func envList(env map[string]string) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(env)) {
		out = append(out, k+"="+env[k])
	}
	return out
}

// copyFiles puts configuration into a created container; a mount would depend on which of our folders the engine can see.
func copyFiles(ctx context.Context, c *client.Client, s Spec, id string) error {
	if len(s.Files) == 0 {
		return nil
	}
	b, err := tarFiles(s.Files)
	if err != nil {
		return err
	}
	if err := c.CopyToContainer(ctx, id, "/", bytes.NewReader(b), container.CopyToContainerOptions{}); err != nil {
		return fmt.Errorf("copy configuration into the container of the %s: %w", s.Role, err)
	}
	return nil
}

func tarFiles(files []File) ([]byte, error) {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, f := range files {
		target := strings.TrimPrefix(f.Target, "/")
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: path.Dir(target) + "/", Mode: 0o755}); err != nil {
			return nil, fmt.Errorf("pack %s: %w", f.Name, err)
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: target, Mode: 0o644, Size: int64(len(f.Data))}); err != nil {
			return nil, fmt.Errorf("pack %s: %w", f.Name, err)
		}
		if _, err := w.Write(f.Data); err != nil {
			return nil, fmt.Errorf("pack %s: %w", f.Name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("pack configuration: %w", err)
	}
	return buf.Bytes(), nil
}

// containerIdentity is what the engine made of the spec: the image it chose and the whole command line.
func containerIdentity(ctx context.Context, c *client.Client, s Spec, id string) (Identity, error) {
	in, err := c.ContainerInspect(ctx, id)
	if err != nil {
		return Identity{}, fmt.Errorf("inspect the container of the %s: %w", s.Role, err)
	}
	img, err := c.ImageInspect(ctx, s.Image)
	if err != nil {
		return Identity{}, fmt.Errorf("inspect image %s: %w", s.Image, err)
	}
	if img.ID != in.Image {
		return Identity{}, fault.New(fault.Image, "digest_mismatch", "run again", "the container of the %s runs image %s, not %s", s.Role, in.Image, img.ID)
	}
	i := Identity{Role: s.Role, Runtime: "docker", Name: containerName(s), Image: s.Image, ImageID: in.Image, Argv: append([]string{in.Path}, in.Args...)}
	if !strings.Contains(s.Image, "@") && len(img.RepoDigests) > 0 {
		i.Image = img.RepoDigests[0] // of an unpinned image: what the tag meant
	}
	return i, nil
}
