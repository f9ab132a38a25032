//go:build !linux

package paced

import (
	"context"
	"errors"
	"net"
)

// Monotonic is not known on this system.
func Monotonic() int64 { return 0 }

// Serve is not there on this system.
func Serve(context.Context, *net.TCPListener, Config, *Log) error {
	return errors.New("the paced server needs Linux")
}
