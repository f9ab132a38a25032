package keeper

import (
	"sync"

	"assay/runner/record"
)

// keptBehind is how many ended requests may wait to be kept. When as many do, those that end wait too: memory stays bounded, and nothing is lost.
const keptBehind = 4096

// Keeper hands ended requests on, one at a time and beside the load: no slot waits for a disk before its next request.
type Keeper struct {
	keep  func(record.Request) error
	queue chan record.Request
	done  chan struct{}

	mu  sync.Mutex
	err error // the first failure
}

// New makes a keeper that hands requests to keep.
func New(keep func(record.Request) error) *Keeper {
	return &Keeper{keep: keep, queue: make(chan record.Request, keptBehind), done: make(chan struct{})}
}

// Run keeps what comes until Close.
func (k *Keeper) Run() {
	defer close(k.done)
	for r := range k.queue {
		if err := k.keep(r); err != nil {
			k.fail(err)
		}
	}
}

// Take has a request kept by Run.
func (k *Keeper) Take(r record.Request) { k.queue <- r }

// Now keeps a request at once; not beside Run.
func (k *Keeper) Now(r record.Request) error { return k.keep(r) }

// Close waits until all is kept; nothing comes after it.
func (k *Keeper) Close() {
	close(k.queue)
	<-k.done
}

func (k *Keeper) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		k.err = err
	}
}

// Failure says why a request could not be kept; nil while all could.
func (k *Keeper) Failure() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}
