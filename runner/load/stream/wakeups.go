package stream

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

const wakeupEvery = 10 * time.Millisecond

// Wakeups counts among the delays how late this process reads what arrives, until ctx ends: it sends itself messages with their time of
// sending. It stands in for the kernel's stamps where there are none, for the goroutine that reads here waits as all others do.
func (v *Vitals) Wakeups(ctx context.Context, clock *Clock) error {
	from, to, err := loop(ctx)
	if err != nil {
		return fmt.Errorf("connect to itself to measure delays: %w", err)
	}
	defer from.Close()
	go v.wake(to, clock)
	tick := time.NewTicker(wakeupEvery)
	defer tick.Stop()
	var b [8]byte
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		binary.LittleEndian.PutUint64(b[:], uint64(clock.Now()))
		if _, err := from.Write(b[:]); err != nil {
			return fmt.Errorf("measure delays: %w", err)
		}
	}
}

// wake reads the messages until the other side closes.
func (v *Vitals) wake(to net.Conn, clock *Clock) {
	defer to.Close()
	s := v.shard()
	var b [8]byte
	for {
		if _, err := io.ReadFull(to, b[:]); err != nil {
			return
		}
		s.delayed(clock.Now() - int64(binary.LittleEndian.Uint64(b[:])))
	}
}

// loop is a connection of this process to itself.
func loop(ctx context.Context) (from, to net.Conn, err error) {
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	dialer := net.Dialer{Timeout: time.Second}
	if from, err = dialer.DialContext(ctx, "tcp", l.Addr().String()); err != nil {
		return nil, nil, err
	}
	if to, err = l.Accept(); err != nil {
		from.Close()
		return nil, nil, err
	}
	return from, to, nil
}
