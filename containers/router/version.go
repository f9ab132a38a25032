package router

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"

	"assay/containers/inside"
	"assay/fault"
)

// versionLimit bounds the question: a program says its version at once, a Python that starts on a busy machine later.
const versionLimit = 10 * time.Second

// Version is the version of a router of this kind that runs in a world, with this command line. It is asked of a second program beside it; the router
// is not touched.
func (k Kind) Version(ctx context.Context, w inside.World, argv []string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, versionLimit, fmt.Errorf("it was not told within %s", versionLimit))
	defer cancel()
	version, err := k.ask(ctx, w, argv)
	if err != nil && ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	return version, err
}

func (k Kind) ask(ctx context.Context, w inside.World, argv []string) (string, error) {
	switch {
	case k.Package != "":
		return inside.PackageVersion(ctx, w, k.Package)
	case k.VersionArg == "":
		return "", fmt.Errorf("a router of kind %s is not asked for it", k.Name)
	case len(argv) == 0 || path.Base(argv[0]) != k.Program[0]:
		return "", fmt.Errorf("its program is not called %s: it is not started again to ask", k.Program[0]) // a script may start anything
	}
	out, complaint, err := w.Run(ctx, argv[0], k.VersionArg)
	if err != nil {
		return "", err
	}
	return versionIn(append(out, complaint...))
}

// versionIn finds a version in what a program says: "nginx version: nginx/1.27.5", "HAProxy version 3.0.12-1 2026/…". Of nginx made by others the
// name belongs to it: "openresty/1.27.1.2".
func versionIn(said []byte) (string, error) {
	first, _, _ := bytes.Cut(bytes.TrimSpace(said), []byte("\n"))
	m := regexp.MustCompile(`\bversion:? ([\w.+~/-]{1,80})`).FindSubmatch(first)
	if m == nil {
		return "", errors.New("its program does not tell it: " + fault.Printable(string(first[:min(len(first), 200)])))
	}
	return strings.TrimPrefix(string(m[1]), "nginx/"), nil
}
