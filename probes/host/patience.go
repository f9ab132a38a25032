package host

import (
	"errors"
	"sync"
	"time"
)

// readLimit bounds one read of a live machine. A file of /sys asks a driver, and a broken device may never answer; statfs asks a server.
const readLimit = 2 * time.Second

// errStuck tells a read that did not come back.
var errStuck = errors.New("did not answer within " + readLimit.String())

// patience counts the reads and programs that have not come back, by name, so that none of them is started again: each holds a thread or a process.
type patience struct {
	mu    sync.Mutex
	stuck map[string]int
}

func newPatience() *patience { return &patience{stuck: map[string]int{}} }

func (p *patience) isStuck(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stuck[name] > 0
}

func (p *patience) add(name string, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stuck[name] += n
}

// leave counts what did not come back as stuck until it does.
func leave[T any](p *patience, name string, done <-chan T) {
	p.add(name, 1)
	go func() {
		<-done
		p.add(name, -1)
	}()
}

// patiently runs a read that may hang and leaves it behind when it does. While one has not come back, the same fails at once.
func patiently[T any](p *patience, name string, read func() (T, error)) (T, error) {
	if p == nil {
		return read()
	}
	type answer struct {
		value T
		err   error
	}
	var none T
	if p.isStuck(name) {
		return none, errStuck
	}
	done, late := make(chan answer, 1), time.NewTimer(readLimit)
	defer late.Stop()
	go func() {
		value, err := read()
		done <- answer{value, err}
	}()
	select {
	case a := <-done:
		return a.value, a.err
	case <-late.C:
		leave(p, name, done)
		return none, errStuck
	}
}
