package allow

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// endpoint checks where a running server is asked.
func (c *check) endpoint(text string) {
	u, err := url.Parse(text)
	if err != nil {
		c.never("server.url is no address")
		return
	}
	if u.Scheme == "unix" {
		c.unixEndpoint(u.Path)
		return
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if !slices.ContainsFunc(c.list.Endpoints, func(pattern string) bool { return hostFits(strings.ToLower(pattern), host) }) {
		c.refuse("endpoints", host, "the server is at %s", host)
	}
}

func (c *check) unixEndpoint(path string) {
	real, err := c.machine.Resolve(path)
	if err != nil {
		real = path
	}
	if why := c.closed(real); why != "" {
		c.never("the server is at the socket %s: it %s", path, why)
		return
	}
	if !slices.ContainsFunc(c.list.Endpoints, func(pattern string) bool { return pattern == "unix://"+real }) {
		c.refuse("endpoints", "unix://"+real, "the server is at the socket %s", path)
	}
}

// hostFits tells whether a host is what a pattern names: itself, a domain below, an address of a network. A name is not looked up: what it
// means now it need not mean later.
func hostFits(pattern, host string) bool {
	if pattern == "*" || pattern == host {
		return true
	}
	if domain, below := strings.CutPrefix(pattern, "*."); below {
		return strings.HasSuffix(host, "."+domain)
	}
	network, err := netip.ParsePrefix(pattern)
	addr, bad := netip.ParseAddr(host)
	return err == nil && bad == nil && network.Contains(addr.Unmap().WithZone(""))
}
