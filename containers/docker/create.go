package docker

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/client"
	"github.com/docker/go-connections/nat"

	"assay/containers/instance"
	"assay/containers/launch"
	"assay/containers/logs"
	"assay/fault"
)

// startNew creates, fills and starts a container.
func (r Runtime) startNew(ctx context.Context, c *client.Client, s instance.Spec) (*box, error) {
	if err := r.sourcesExist(s); err != nil {
		return nil, err
	}
	terms, err := r.agree(ctx, c, s)
	if err != nil {
		return nil, err
	}
	cfg, host := containerConfig(s, terms)
	id, err := create(ctx, c, s, cfg, host)
	if err != nil {
		return nil, err
	}
	b, err := startContainer(ctx, c, s, id)
	if err != nil {
		return nil, errors.Join(err, removeContainer(ctx, c, id))
	}
	if err := b.recordLaunch(ctx, terms, launch.AskedOf(cfg, host, imageID(s), s.Secrets)); err != nil {
		_, stopped := b.Stop(ctx)
		return nil, errors.Join(err, stopped)
	}
	return b, nil
}

func startContainer(ctx context.Context, c *client.Client, s instance.Spec, id string) (*box, error) {
	if err := copyFiles(ctx, c, s, id); err != nil {
		return nil, err
	}
	identity, err := containerIdentity(ctx, c, s, id)
	if err != nil {
		return nil, err
	}
	log, err := logs.Create(s.Dir, s.Role)
	if err != nil {
		return nil, err
	}
	if err := c.ContainerStart(ctx, id, container.StartOptions{}); err != nil {
		return nil, errors.Join(startFault(s, err), log.Close(), os.Remove(log.Name()))
	}
	return follow(ctx, c, s, id, identity, log), nil
}

// lateCreation is how long a caller that gives up waits for the creation that it asked for.
const lateCreation = 10 * time.Second

// create makes the container. A name that a lost container of ours still has is taken from it; one of somebody else's is not. The engine goes
// on with a creation whose sender gave up, so what comes of it is waited for: it can be removed only when it is there.
func create(ctx context.Context, c *client.Client, s instance.Spec, cfg container.Config, host container.HostConfig) (string, error) {
	given := ctx
	ctx, cancel := context.WithCancel(context.WithoutCancel(given))
	defer cancel()
	defer context.AfterFunc(given, func() { time.AfterFunc(lateCreation, cancel) })()
	r, err := c.ContainerCreate(ctx, &cfg, &host, nil, nil, s.Name())
	if nameTaken(err) {
		if err := giveUpName(ctx, c, s); err != nil {
			return "", err
		}
		r, err = c.ContainerCreate(ctx, &cfg, &host, nil, nil, s.Name())
	}
	if errdefs.IsNotFound(err) {
		return "", fault.New(fault.Image, "not_stored", "pull it first", "image %s is not on this machine", s.Image)
	}
	if err != nil {
		return "", createFault(s, err)
	}
	return r.ID, nil
}

func giveUpName(ctx context.Context, c *client.Client, s instance.Spec) error {
	old, err := c.ContainerInspect(ctx, s.Name())
	if err != nil {
		return fmt.Errorf("look at container %s: %w", s.Name(), err)
	}
	if old.Config == nil || old.Config.Labels[labelOwner] != s.Owner {
		return fault.New(s.Layer(), "name_taken", "remove or rename that container", "a container of somebody else is called %s", s.Name())
	}
	return removeContainer(ctx, c, old.ID)
}

// containerConfig is the engine's form of a spec and its terms: never restarted, its log kept by the engine in a form that can be
// read back, and an init that passes signals on and buries orphans.
func containerConfig(s instance.Spec, terms launch.Terms) (container.Config, container.HostConfig) {
	yes := true
	cfg := container.Config{Image: s.StartedImage(), Entrypoint: s.Argv, Cmd: s.Args, Env: instance.EnvList(terms.Environ(s.Env)), User: s.Rights.User, Labels: map[string]string{labelOwner: s.Owner, labelRun: s.Run, labelRole: s.Role}}
	cfg.Healthcheck = &container.HealthConfig{Test: []string{"NONE"}} // an image's own would start a program inside every few seconds of a measurement
	host := container.HostConfig{
		Init:          &yes,
		NetworkMode:   "bridge",
		ShmSize:       s.ShmBytes,
		RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyDisabled},
		LogConfig:     container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "50m", "max-file": "3"}},
		IpcMode:       container.IpcMode(cmp.Or(s.Rights.IPC, "private")),
		Privileged:    s.Rights.Privileged,
	}
	// Kind bind under Mounts fails for a missing source; the older Binds would create it on the host.
	for _, m := range s.Mounts {
		host.Mounts = append(host.Mounts, mount.Mount{Type: mount.TypeBind, Source: m.Source, Target: m.Target, ReadOnly: !m.Writable})
	}
	terms.Apply(&host)
	if host.IpcMode.IsHost() {
		host.ShmSize = 0 // it is the host's
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

// copyFiles puts configuration into a created container; a mount would depend on which of our folders the engine can see.
func copyFiles(ctx context.Context, c *client.Client, s instance.Spec, id string) error {
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

func tarFiles(files []instance.File) ([]byte, error) {
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
