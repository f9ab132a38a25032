//go:build !linux

package stream

import (
	"net"
	"syscall"
)

// wires have nothing to keep on this system.
type wires struct{}

func (*wires) close() {}

func (d *dialer) plain(c net.Conn) (link, reader, error) { return c, newUserReader(c, d.clock), nil }

// askStamps has nothing to ask for on this system.
func askStamps(_, _ string, _ syscall.RawConn) error { return nil }

// alive cannot look without reading here; the idle limit has to do.
func alive(link) bool { return true }
