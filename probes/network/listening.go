package network

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// ProbeListening reads the TCP ports of this host, IPv4 and IPv6, on which something listens.
func ProbeListening(_ context.Context, h host.Host, s *sut.SUT) error {
	const four, six = "/proc/net/tcp", "/proc/net/tcp6"
	table, err := h.Text(four)
	if err != nil {
		s.Network.Listening = sut.Unknown[[]int]("%s", err)
		return nil
	}
	source := four
	if more, err := h.Text(six); err == nil {
		table, source = table+"\n"+more, four+", "+six
	}
	ports, err := listeningPorts(table)
	if err != nil {
		s.Network.Listening = sut.Unknown[[]int]("%s: %s", source, err)
		return nil
	}
	s.Network.Listening = sut.Known(ports, source)
	return nil
}

// listeningPorts reads tables of TCP sockets: each line has a number, the local and the remote address in hex, and the state, 0A for one
// that listens.
func listeningPorts(table string) ([]int, error) {
	ports := []int{}
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 4 || f[3] != "0A" {
			continue
		}
		_, hex, _ := strings.Cut(f[1], ":")
		port, err := strconv.ParseUint(hex, 16, 16)
		if err != nil {
			return nil, errors.New("a socket without a port")
		}
		ports = append(ports, int(port))
	}
	slices.Sort(ports)
	return slices.Compact(ports), nil
}
