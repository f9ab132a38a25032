package redfish

import (
	"context"
	"encoding/json"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/probes/disguise"
	"assay/probes/host"
	"assay/probes/smbios"
)

const (
	walkLimit  = 8 * time.Second
	maxAnswers = 80 // a BMC takes 0.1 s or more for each
)

// resource is one answer of a BMC.
type resource map[string]any

// fetch gives the BMC's answers by their paths: those of a capture, or of the BMC that the host reaches.
func fetch(ctx context.Context, h host.Host) (map[string]resource, error) {
	if h.BMC == nil {
		raw, err := h.BMCAnswers()
		docs := map[string]resource{}
		for path, b := range raw {
			if doc, ok := decode(b); ok {
				docs[path] = doc
			}
		}
		return nameless(docs), err
	}
	address, err := hostInterface(h)
	if err != nil {
		return nil, h.NoBMC("is not asked: %s", err)
	}
	ctx, cancel := context.WithTimeout(ctx, walkLimit)
	defer cancel()
	docs := map[string]resource{}
	refused := walk(docs, host.RedfishRoot, func(path string) ([]byte, error) { return h.AskBMC(ctx, address, path) })
	if refused != nil && len(docs) < 2 { // the root is for everyone
		return nil, h.NoBMC("is of no use: the BMC %s", refused)
	}
	return nameless(docs), nil
}

// nameless gives the answers by paths without serial numbers, since a path is the source of what the answer tells.
func nameless(docs map[string]resource) map[string]resource {
	var all []any
	for _, doc := range docs {
		all = append(all, map[string]any(doc))
	}
	clean, out := disguise.Serials(all), map[string]resource{}
	for path, doc := range docs {
		out[clean(path)] = doc
	}
	return out
}

func decode(b []byte) (resource, bool) {
	var doc resource
	return doc, json.Unmarshal(b, &doc) == nil && doc != nil
}

// walk asks for the resources that the facts stand in, each once, and gives the first refusal.
func walk(docs map[string]resource, root string, ask func(string) ([]byte, error)) (refused error) {
	seen := map[string]bool{root: true}
	for queue := []string{root}; len(queue) > 0 && len(seen) <= maxAnswers; queue = queue[1:] {
		b, err := ask(queue[0])
		if err != nil {
			if refused == nil {
				refused = err
			}
			continue
		}
		doc, ok := decode(b)
		if !ok {
			continue
		}
		docs[queue[0]] = doc
		for _, next := range doc.links() {
			if !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return refused
}

// links gives the paths of the resources below one that are worth asking for.
func (r resource) links() []string {
	var next []string
	for _, key := range []string{"Systems", "Chassis", "Managers", "Power", "PowerSubsystem", "PowerSupplies", "EnvironmentMetrics"} {
		if path := r.object(key).text("@odata.id"); path != "" {
			next = append(next, path)
		}
	}
	for _, m := range r.list("Members") {
		if path := m.text("@odata.id"); path != "" {
			next = append(next, path)
		}
	}
	return next
}

// hostInterface gives the address at which the BMC's Redfish service is to be reached from the host itself (SMBIOS structure 42).
func hostInterface(h host.Host) (string, error) {
	b, err := h.Read(smbios.Path)
	if err != nil {
		return "", err
	}
	list, err := smbios.Parse(b)
	for _, s := range list {
		if address, ok := redfishAddress(s); ok {
			return address, nil
		}
	}
	if err != nil {
		return "", err
	}
	return "", errNoInterface
}

// redfishAddress reads a management controller host interface: after the interface's own data stand protocols, of which 4 is Redfish
// over IP. Its record names the service's address at fixed places.
func redfishAddress(s smbios.Structure) (string, bool) {
	if s.Kind != 42 || len(s.Data) < 6 {
		return "", false
	}
	at := 6 + int(s.Data[5])
	if at >= len(s.Data) {
		return "", false
	}
	count := int(s.Data[at])
	for at++; count > 0 && at+2 <= len(s.Data); count-- {
		kind, length := s.Data[at], int(s.Data[at+1])
		at += 2
		if at+length > len(s.Data) {
			return "", false
		}
		if kind == 4 {
			return serviceAddress(s.Data[at : at+length])
		}
		at += length
	}
	return "", false
}

// serviceAddress reads the record of Redfish over IP (DSP0270): 16 bytes of id, how the host and then the service get their address,
// format, address and mask of each, then the service's port.
func serviceAddress(record []byte) (string, bool) {
	const discovery, format, address, port = 50, 51, 52, 84
	if len(record) < port+2 {
		return "", false
	}
	var ip netip.Addr
	switch record[format] {
	case 1:
		ip = netip.AddrFrom4([4]byte(record[address : address+4]))
	case 2:
		ip = netip.AddrFrom16([16]byte(record[address : address+16]))
	}
	n := int(record[port]) | int(record[port+1])<<8
	if !ip.IsValid() || ip.IsUnspecified() || n == 0 {
		return "", false
	}
	return net.JoinHostPort(ip.String(), strconv.Itoa(n)), true
}

// paths gives the paths of the answers in order.
func paths(docs map[string]resource) []string { return slices.Sorted(maps.Keys(docs)) }

// object gives an object below a resource; an empty one where there is none.
func (r resource) object(key string) resource {
	o, _ := r[key].(map[string]any)
	return o
}

// list gives the objects of a list below a resource.
func (r resource) list(key string) []resource {
	items, _ := r[key].([]any)
	var out []resource
	for _, item := range items {
		if o, ok := item.(map[string]any); ok {
			out = append(out, o)
		}
	}
	return out
}

// text gives a text without the blanks around it.
func (r resource) text(key string) string {
	s, _ := r[key].(string)
	return strings.TrimSpace(s)
}

// number gives a positive number.
func (r resource) number(key string) (float64, bool) {
	v, ok := r[key].(float64)
	return v, ok && v > 0
}
