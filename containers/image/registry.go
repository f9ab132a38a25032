package image

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/docker/docker/api/types/registry"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"assay/fault"
)

// ResolveDigest asks the registry what a reference names now and gives it as name@sha256:…; a reference with a digest is
// only checked. It needs no container engine.
func ResolveDigest(ctx context.Context, ref string) (string, error) {
	return resolve(ctx, ref, resolveLimit)
}

// resolveLimit bounds a question to a registry without whose answer nothing can go on.
const resolveLimit = 30 * time.Second

func resolve(ctx context.Context, ref string, limit time.Duration) (string, error) {
	r, err := name.ParseReference(ref)
	if err != nil {
		return "", fault.New(fault.Image, "invalid", "write it as name:tag", "%q is not an image reference: %w", ref, err)
	}
	auth, err := credentials(ctx, r)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	d, err := remote.Head(r, auth.options(ctx)...)
	if err != nil {
		return "", registryFault(ref, err)
	}
	return r.Context().Digest(d.Digest.String()).String(), nil
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

// helperLimit bounds a credential helper, which is a program of somebody else.
const helperLimit = 30 * time.Second

// account is how the user is known to a registry. It is kept for one pull, and never written or shown.
type account struct {
	auth authn.AuthConfig
	host string
}

// credentials reads the user's credentials from the configuration of docker or its helpers: the engine only forwards what it is given.
func credentials(ctx context.Context, ref name.Reference) (account, error) {
	ctx, cancel := context.WithTimeout(ctx, helperLimit)
	defer cancel()
	type answer struct {
		cfg *authn.AuthConfig
		err error
	}
	done := make(chan answer, 1) // the library does not end a helper that hangs
	go func() {
		var a answer
		var auth authn.Authenticator
		if auth, a.err = authn.Resolve(ctx, authn.DefaultKeychain, ref.Context()); a.err == nil {
			a.cfg, a.err = authn.Authorization(ctx, auth)
		}
		done <- a
	}()
	host := ref.Context().RegistryStr()
	select {
	case <-ctx.Done():
		return account{}, credentialsFault(host, ctx.Err())
	case a := <-done:
		if a.err != nil {
			return account{}, credentialsFault(host, a.err)
		}
		return account{auth: *a.cfg, host: host}, nil
	}
}

func credentialsFault(host string, err error) error {
	return fault.New(fault.Image, "credentials_unreadable", "check config.json in ~/.docker or $DOCKER_CONFIG, and the credential helper that it names",
		"the credentials for %s cannot be read: %w", host, err)
}

// options are those of a question to the registry.
func (a account) options(ctx context.Context) []remote.Option {
	return []remote.Option{remote.WithContext(ctx), remote.WithAuth(authn.FromConfig(a.auth)),
		remote.WithTransport(secureTransport{remote.DefaultTransport}), remote.WithRetryBackoff(remote.Backoff{Steps: 1})}
}

// header is the form in which the engine takes them; "" for none.
func (a account) header() (string, error) {
	if a.auth == (authn.AuthConfig{}) {
		return "", nil
	}
	return registry.EncodeAuthConfig(registry.AuthConfig{Username: a.auth.Username, Password: a.auth.Password, Auth: a.auth.Auth,
		IdentityToken: a.auth.IdentityToken, RegistryToken: a.auth.RegistryToken, ServerAddress: a.host})
}

// hide takes the credentials out of what somebody else wrote.
func (a account) hide(text string) string {
	for _, secret := range []string{a.auth.Password, a.auth.Auth, a.auth.IdentityToken, a.auth.RegistryToken} {
		text = fault.Hide(text, secret)
	}
	return text
}
