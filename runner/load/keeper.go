package load

import (
	"sync"

	"assay/runner/record"
)

// keptBehind is how many ended requests may wait to be kept. When as many do, those that end wait too: memory stays bounded, and nothing is lost.
const keptBehind = 4096

// keeper hands ended requests on, one at a time and beside the load: no slot waits for a disk before its next request.
type keeper struct {
	keep  func(record.Request) error
	queue chan record.Request
	done  chan struct{}

	mu  sync.Mutex
	err error // the first failure
}

func newKeeper(keep func(record.Request) error) *keeper {
	return &keeper{keep: keep, queue: make(chan record.Request, keptBehind), done: make(chan struct{})}
}

// run keeps what comes until close.
func (k *keeper) run() {
	defer close(k.done)
	for r := range k.queue {
		if err := k.keep(r); err != nil {
			k.fail(err)
		}
	}
}

// close waits until all is kept; nothing comes after it.
func (k *keeper) close() {
	close(k.queue)
	<-k.done
}

func (k *keeper) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		k.err = err
	}
}

// failure says why a request could not be kept; nil while all could.
func (k *keeper) failure() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}
