package inside

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"
)

// Container is the world of a running container. Files come through the engine, so that an image needs no program to be read.
type Container struct {
	Client *client.Client
	ID     string
}

// File reads a file of the container, at the end of the links that lead to it.
func (c Container) File(ctx context.Context, name string) ([]byte, error) {
	for range 8 {
		b, target, err := c.copied(ctx, name)
		if err != nil || target == "" {
			return b, err
		}
		if !path.IsAbs(target) {
			target = path.Join(path.Dir(name), target)
		}
		name = target
	}
	return nil, errors.New("links lead in a circle")
}

// copied takes what lies at a path out of the container: a file, or the target of a link.
func (c Container) copied(ctx context.Context, name string) (b []byte, target string, err error) {
	body, stat, err := c.Client.CopyFromContainer(ctx, c.ID, name)
	if errdefs.IsNotFound(err) {
		return nil, "", fs.ErrNotExist
	}
	if err != nil {
		return nil, "", fmt.Errorf("copy from the container: %w", err)
	}
	defer body.Close()
	if stat.Mode.IsDir() {
		return nil, "", errors.New("is a folder")
	}
	r := tar.NewReader(body)
	head, err := r.Next()
	if err != nil {
		return nil, "", fmt.Errorf("copy from the container: %w", err)
	}
	if head.Typeflag == tar.TypeSymlink {
		return nil, head.Linkname, nil
	}
	b, err = io.ReadAll(io.LimitReader(r, fileBytes))
	return b, "", err
}

// Run runs a program in the container and gives what it prints.
func (c Container) Run(ctx context.Context, argv ...string) (out, complaint []byte, err error) {
	e, err := c.Client.ContainerExecCreate(ctx, c.ID, container.ExecOptions{Cmd: argv, AttachStdout: true, AttachStderr: true})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", argv[0], err)
	}
	conn, err := c.Client.ContainerExecAttach(ctx, e.ID, container.ExecAttachOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", argv[0], err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, conn.Close)()
	var printed, complained bytes.Buffer
	if _, err := stdcopy.StdCopy(&printed, &complained, io.LimitReader(conn.Reader, textBytes)); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, nil, fmt.Errorf("%s: %w", argv[0], err)
	}
	state, err := c.Client.ContainerExecInspect(ctx, e.ID)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %w", argv[0], err)
	case state.Running:
		return nil, nil, fmt.Errorf("%s printed more than %d KiB", argv[0], textBytes>>10)
	case state.ExitCode != 0:
		return nil, nil, exitError(argv[0], state.ExitCode, append(complained.Bytes(), printed.Bytes()...))
	}
	return printed.Bytes(), complained.Bytes(), nil
}

// exitError says how a program ended, with the last line of its complaint.
func exitError(program string, code int, complaint []byte) error {
	lines := strings.Split(strings.TrimSpace(string(complaint)), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	if strings.Contains(last, "executable file not found") || strings.Contains(last, "no such file or directory") {
		return fmt.Errorf("%s is not there", program)
	}
	return fmt.Errorf("%s ended with code %d: %.200s", program, code, last)
}

// Pythons are the interpreters among the container's processes, and the image's own.
func (c Container) Pythons(ctx context.Context) []string {
	var commands []string
	top, err := c.Client.ContainerTop(ctx, c.ID, nil)
	if err != nil {
		top.Processes = nil // the image's own is left
	}
	for _, p := range top.Processes {
		if len(p) == len(top.Titles) {
			commands = append(commands, p[len(p)-1])
		}
	}
	return append(interpreters(commands), "python3", "python")
}
