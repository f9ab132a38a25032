package containers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"assay/fault"
)

// ResolveDigest asks the registry what a reference names now and gives it as name@sha256:…; a reference with a digest is
// only checked. It needs no container engine.
func ResolveDigest(ctx context.Context, ref string) (string, error) {
	r, err := name.ParseReference(ref)
	if err != nil {
		return "", fault.New(fault.Image, "invalid", "write it as name:tag", "%q is not an image reference: %w", ref, err)
	}
	d, err := remote.Head(r, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain), remote.WithTransport(secureTransport{remote.DefaultTransport}))
	if err != nil {
		return "", resolveFault(ref, err)
	}
	return r.Context().Digest(d.Digest.String()).String(), nil
}

func resolveFault(ref string, err error) error {
	var t *transport.Error
	switch {
	case errors.Is(err, errPlainHTTP):
		return fault.New(fault.Image, "insecure_registry", "give the registry a certificate", "image %s: %w", ref, err)
	case !errors.As(err, &t):
		return fault.New(fault.Image, "registry_unreachable", "check that the machine reaches the registry", "image %s: %w", ref, err)
	case t.StatusCode == http.StatusNotFound:
		return fault.New(fault.Image, "not_found", "check name and tag", "image %s is not in its registry", ref)
	case t.StatusCode == http.StatusUnauthorized || t.StatusCode == http.StatusForbidden:
		return fault.New(fault.Image, "unauthorized", "`docker login` to the registry", "the registry of %s refuses: %s", ref, http.StatusText(t.StatusCode))
	}
	return fault.New(fault.Image, "registry_failed", "try again later", "image %s: %w", ref, err)
}

var errPlainHTTP = errors.New("a registry without TLS is used on this machine's loopback only: anyone between could answer for it")

// secureTransport refuses plain HTTP to another machine. The library would use it for private networks too.
type secureTransport struct{ next http.RoundTripper }

// RoundTrip passes a request on when it is encrypted or stays on this machine.
func (t secureTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	host := r.URL.Hostname()
	if r.URL.Scheme != "https" && host != "localhost" && !net.ParseIP(host).IsLoopback() {
		return nil, fmt.Errorf("%s: %w", r.URL.Host, errPlainHTTP)
	}
	return t.next.RoundTrip(r)
}
