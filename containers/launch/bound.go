package launch

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/go-connections/nat"
)

// PortBinding is a port of the host by which one of a container is reached.
type PortBinding struct {
	HostIP        string `json:"host_ip,omitempty"`
	HostPort      int    `json:"host_port,omitempty"`
	ContainerPort int    `json:"container_port"`
	Protocol      string `json:"protocol"` // tcp | udp | sctp
}

func (b PortBinding) String() string {
	return fmt.Sprintf("%s:%d to %d", b.HostIP, b.HostPort, b.ContainerPort)
}

// BindMount is a path of the host in a container.
type BindMount struct {
	Source   string `json:"source"`
	Target   string `json:"target"`
	ReadOnly bool   `json:"read_only"`
}

func (b BindMount) String() string {
	if b.ReadOnly {
		return b.Source + " at " + b.Target + ", read-only"
	}
	return b.Source + " at " + b.Target
}

// publish records ports, in order.
func (s *Settings) publish(ports nat.PortMap) {
	for port, bindings := range ports {
		for _, b := range bindings {
			host, _ := strconv.Atoi(b.HostPort) // none is one that the engine chooses
			s.PortBindings = append(s.PortBindings, PortBinding{HostIP: b.HostIP, HostPort: host, ContainerPort: port.Int(), Protocol: port.Proto()})
		}
	}
	s.PortBindings, s.Ports = inWords(s.PortBindings)
}

// bindAsked records the mounts that an engine is asked for, in order.
func (s *Settings) bindAsked(host container.HostConfig) {
	for _, m := range host.Mounts {
		s.BindMounts = append(s.BindMounts, BindMount{Source: m.Source, Target: m.Target, ReadOnly: m.ReadOnly})
	}
	s.BindMounts, s.Mounts = inWords(s.BindMounts)
}

// bindMade records the mounts that a container has, in order. An image has volumes of its own.
func (s *Settings) bindMade(in container.InspectResponse) {
	for _, m := range in.Mounts {
		if m.Type == "bind" {
			s.BindMounts = append(s.BindMounts, BindMount{Source: m.Source, Target: m.Destination, ReadOnly: !m.RW})
		}
	}
	s.BindMounts, s.Mounts = inWords(s.BindMounts)
}

// inWords puts a list in the order of its words, and gives these too.
func inWords[T fmt.Stringer](list []T) (ordered []T, words []string) {
	slices.SortFunc(list, func(a, b T) int { return cmp.Compare(a.String(), b.String()) })
	for _, one := range list {
		words = append(words, one.String())
	}
	return list, words
}
