package health

import (
	"runtime"
	"sync"
	"time"

	"assay/runner/load/process"
)

// Looks are the two at this process, as a window opens and as it ends. They are made beside whoever opens or ends it: that is often a slot about
// to send. Begin or Skip comes once, and then End once.
type Looks struct {
	usage  func() Usage
	begun  chan struct{} // closed when the first is done, or there is none
	under  sync.WaitGroup
	isSeen bool
	before Usage
	after  Usage
	rss    int64
	files  int
}

// NewLooks makes looks that read the usage until now in this way.
func NewLooks(usage func() Usage) *Looks { return &Looks{usage: usage, begun: make(chan struct{})} }

// Begin looks as the window opens.
func (l *Looks) Begin() {
	l.isSeen = true
	l.under.Go(func() { l.before = l.usage(); close(l.begun) })
}

// Skip is Begin of a window that never opened.
func (l *Looks) Skip() { close(l.begun) }

// End looks as the window ends: after the first look, for a busy machine comes to both at once.
func (l *Looks) End() {
	l.under.Go(func() { <-l.begun; l.after, l.rss, l.files = l.usage(), process.Resident(), process.OpenFiles() })
}

// Wait waits for the looks that were begun.
func (l *Looks) Wait() { l.under.Wait() }

// Of is what the looks tell of a window, once both are made. A first look that came after the window's end tells nothing of it.
func (l *Looks) Of(startUS, endUS int64) Health {
	var h Health
	if l.isSeen && l.before.AtUS < endUS {
		h = l.after.since(l.before)
	}
	if l.isSeen {
		h.Unseen = time.Duration(max(0, min(l.before.AtUS, endUS)-startUS)) * time.Microsecond
	}
	h.RSSBytes, h.Files, h.Procs = l.rss, l.files, runtime.GOMAXPROCS(0)
	return h
}
