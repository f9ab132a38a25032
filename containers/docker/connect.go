package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"

	"github.com/docker/docker/client"

	"assay/containers/socket"
	"assay/fault"
)

// host is where the engine listens.
func (r Runtime) host() string { return cmp.Or(r.At.Host, "unix://"+socket.Usual) }

// connect reaches the engine and agrees on a version of its API with it.
func (r Runtime) connect(ctx context.Context) (*client.Client, error) {
	if err := r.reach(ctx); err != nil {
		return nil, r.unreachable(err)
	}
	options := []client.Opt{client.WithHost(r.host()), client.WithAPIVersionNegotiation()}
	if r.path() == "" { // over TCP, with the certificates of DOCKER_CERT_PATH
		options = append(options, client.WithTLSClientConfigFromEnv())
	}
	c, err := client.NewClientWithOpts(options...)
	if err != nil {
		return nil, fmt.Errorf("make a docker client: %w", err)
	}
	if _, err := c.Ping(ctx); err != nil {
		return nil, errors.Join(r.unreachable(err), c.Close())
	}
	return c, nil
}

// path is the engine's socket, "" when it listens elsewhere.
func (r Runtime) path() string { return socket.Place{Host: r.host()}.Path() }

// reach tells why the socket cannot be used, in the system's words.
func (r Runtime) reach(ctx context.Context) error {
	if r.At.Refused != nil {
		return r.At.Refused
	}
	if r.path() == "" {
		return nil // the first question tells
	}
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "unix", r.path())
	if err != nil {
		return err
	}
	return c.Close()
}

func (r Runtime) unreachable(err error) error {
	if r.At.Refused != nil {
		return r.At.Refused
	}
	looked := ""
	if len(r.At.Looked) > 0 {
		looked = ", nor at " + strings.Join(r.At.Looked, ", ")
	}
	hint := "start it (systemctl start docker), name its socket with --docker-host, or use runtime process"
	if r.path() == "" {
		hint = "check address and network; an engine with TLS needs DOCKER_CERT_PATH (a folder with ca.pem, cert.pem, key.pem) and DOCKER_TLS_VERIFY=1"
	}
	if errors.Is(err, fs.ErrPermission) {
		hint = "add this user to the group docker, or run as root"
	}
	return fault.New(fault.Server, "docker_unreachable", hint, "the Docker engine does not answer at %s%s: %w", r.host(), looked, err)
}
