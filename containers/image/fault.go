package image

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"assay/fault"
)

// cause is a kind of failure of a pull.
type cause struct {
	code      string   // of the fault
	hint      string   // what to do
	words     []string // of the engine or of a registry, lower case: they have no other way to tell it
	transient bool     // another try may go well
}

const (
	hintLogin = "`docker login` to the registry as the user that runs assay; a service finds its config.json by DOCKER_CONFIG"
	hintReach = "check that this machine and its engine reach the registry"
)

// causes are the kinds of failure, the more telling words first.
func causes() []cause {
	return []cause{
		{"disk_full", "free space where the engine keeps its data (`docker system df`): an image needs about three times its download", []string{"no space left on device", "disk quota exceeded"}, false},
		{"rate_limited", "wait, `docker login` for a higher limit, or pin the image in a mirror: its digest stays the same", []string{"toomanyrequests", "too many requests", "rate limit", "http 429"}, false},
		{"wrong_digest", "the registry or something before it gave other bytes than were pinned: try again, then ask who runs it", []string{"verification failed for digest", "unexpected commit digest", "digest mismatch", "invalid diffid", "failed precondition"}, false},
		{"platform_missing", "pin an image that was built for this machine", []string{"no matching manifest for", "no match for platform", "does not match the specified platform"}, false},
		{"proxy", "check the proxy of the engine (`systemctl show -p Environment docker`) and its credentials", []string{"proxyconnect", "proxy authentication required", "http 407"}, false},
		{"dns", "check the registry's name and /etc/resolv.conf", []string{"no such host", "server misbehaving", "temporary failure in name resolution"}, true},
		{"registry_unreachable", hintReach, []string{"tls handshake timeout", "i/o timeout", "client.timeout", "deadline exceeded", "awaiting headers"}, true},
		{"insecure_registry", "give the registry a certificate, or let the engine do without (docker: insecure-registries in daemon.json; podman, also for the loopback: insecure = true in registries.conf)", []string{"server gave http response to https client"}, false},
		{"tls", "give the engine the registry's certificate authority (/etc/docker/certs.d), and check this machine's clock", []string{"x509:", "tls:", "certificate"}, false},
		{"unauthorized", hintLogin, []string{"unauthorized", "no basic auth credentials", "pull access denied", "authentication required", "access to the resource is denied", "403 forbidden", "401 unauthorized", "incorrect username or password", "denied: ", ": denied", "http 401", "http 403"}, false},
		{"not_found", "check name and digest; registries delete old nightly images (one that was kept as a file goes into server.image_file), and a private one needs `docker login`", []string{"manifest unknown", "name unknown", "unknown blob", "blob unknown", "not found", "does not exist", "http 404"}, false},
		{"registry_unreachable", hintReach, []string{"connection refused", "no route to host", "network is unreachable", "connection reset", "broken pipe", "unexpected eof", ": eof", "expected http 206"}, true},
		{"registry_failed", "try again later, or pin the image in a mirror: its digest stays the same", []string{"unexpected http status: 5", "500 internal", "502 bad", "http 50", "503 service", "504 gateway"}, true},
	}
}

// unknown is the cause of a failure whose words are not known.
func unknown() cause {
	return cause{code: "pull_failed", hint: hintReach + ", and look at the engine's log", transient: true}
}

// causeOf finds the cause by the words of the engine.
func causeOf(text string) cause {
	text = strings.ToLower(text)
	for _, c := range causes() {
		for _, word := range c.words {
			if strings.Contains(text, word) {
				return c
			}
		}
	}
	return unknown()
}

func causeNamed(code string) cause {
	for _, c := range causes() {
		if c.code == code {
			return c
		}
	}
	return unknown()
}

// causeOfRegistry finds the cause of an error of our own question to a registry.
func causeOfRegistry(err error) cause {
	var status *transport.Error
	var dns *net.DNSError
	var op *net.OpError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &certificate):
		return causeNamed("tls")
	case errors.As(err, &status): // after plain HTTP was tried too
		return causeOfStatus(status.StatusCode)
	case errors.Is(err, context.DeadlineExceeded): // the same
		return causeNamed("registry_unreachable")
	case errors.Is(err, http.ErrSchemeMismatch):
		return causeNamed("tls")
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return causeNamed("proxy")
	case errors.As(err, &dns) && !dns.IsTimeout:
		return causeNamed("dns")
	}
	return causeNamed("registry_unreachable")
}

func causeOfStatus(code int) cause {
	switch code {
	case http.StatusNotFound:
		return causeNamed("not_found")
	case http.StatusUnauthorized, http.StatusForbidden:
		return causeNamed("unauthorized")
	case http.StatusTooManyRequests:
		return causeNamed("rate_limited")
	case http.StatusProxyAuthRequired:
		return causeNamed("proxy")
	}
	return causeNamed("registry_failed")
}

// registryFault says why a registry did not answer our own question.
func registryFault(ref string, err error) error {
	var told *fault.Fault
	if errors.As(err, &told) {
		return told
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	if errors.Is(err, errPlainHTTP) {
		return fault.New(fault.Image, "insecure_registry", "give the registry a certificate", "image %s: %w", ref, err)
	}
	c := causeOfRegistry(err)
	return fault.New(fault.Image, c.code, c.hint, "the registry does not tell about image %s: %w", ref, err)
}

func isNotFound(err error) bool { return errdefs.IsNotFound(err) }
