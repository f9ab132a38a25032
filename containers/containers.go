package containers

import (
	"context"

	"assay/containers/docker"
	"assay/containers/image"
	"assay/containers/instance"
	"assay/containers/leftover"
	"assay/containers/port"
	"assay/containers/process"
)

// What is to be started, what runs, and how it ended.
type (
	Spec     = instance.Spec
	Rights   = instance.Rights
	File     = instance.File
	Mount    = instance.Mount
	Runtime  = instance.Runtime
	Instance = instance.Instance
	Identity = instance.Identity
	Start    = instance.Start
	KeptFile = instance.KeptFile
	Exit     = instance.Exit
)

// What is written down before it is started, and what a look after a killed program's leftovers is for and gives.
type (
	Intent  = leftover.Intent
	Journal = leftover.Journal
	Search  = leftover.Search
	Left    = leftover.Left
	Found   = leftover.Found
)

// Pull is progress of an image pull.
type Pull = image.Progress

// FileSHA256 is the digest of a file, in hex.
func FileSHA256(path string) (string, error) { return instance.FileSHA256(path) }

// ResolveDigest asks the registry what a reference names now and gives it as name@sha256:…
func ResolveDigest(ctx context.Context, ref string) (string, error) {
	return image.ResolveDigest(ctx, ref)
}

// LocalImage is an image that a container engine has under a tag, as name@sha256:<its id>; "" when it does not tell of one.
func LocalImage(ctx context.Context, at DockerPlace, tag string) string {
	return docker.Runtime{At: at}.LocalImage(ctx, tag)
}

// ProgramSHA256 is the digest of the program file that a spec of runtime process starts.
func ProgramSHA256(s Spec) (string, error) { return process.ProgramSHA256(s) }

// PortHolder names who listens on a port of this machine, as far as this user may see it.
func PortHolder(n int) string { return port.Holder(n) }

// FreePort gives a port of 127.0.0.1 that nobody listens on at this moment.
func FreePort() (int, error) {
	ports, err := port.Free(1)
	if err != nil {
		return 0, err
	}
	return ports[0], nil
}
