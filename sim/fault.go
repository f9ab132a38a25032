package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FaultKind is what goes wrong.
type FaultKind string

// The faults that can be asked for. Those of a stream happen after AtToken of its tokens were sent.
const (
	ErrorFrame FaultKind = "error_frame" // an error event, then [DONE]
	Cut        FaultKind = "cut"         // the connection closes in the middle of the body
	Truncate   FaultKind = "truncate"    // the body ends cleanly without finish reason and [DONE]
	Abort      FaultKind = "abort"       // finish reason abort, usage, [DONE]
	Stall      FaultKind = "stall"       // nothing is sent for Delay
	Reject     FaultKind = "reject"      // 429 with Retry-After: Delay
)

// Fault makes requests fail in a known way.
type Fault struct {
	Kind    FaultKind
	AtToken int           // tokens sent before it happens
	Delay   time.Duration // length of a stall; Retry-After of a reject, whole seconds
	First   int           // only the first so many requests; 0 is all
	Every   int           // only each so-many-th request; 0 and 1 are all
}

// FaultKinds lists the kinds.
func FaultKinds() []FaultKind { return []FaultKind{ErrorFrame, Cut, Truncate, Abort, Stall, Reject} }

// ParseFault reads "kind[@token][:delay][/every][#first]": "cut@5", "stall@3:2s/10", "reject:1s#4".
func ParseFault(s string) (Fault, error) {
	kind, rest := cutMark(s)
	f := Fault{Kind: FaultKind(kind)}
	for rest != "" {
		mark, value := rest[0], ""
		value, rest = cutMark(rest[1:])
		if err := f.set(mark, value); err != nil {
			return Fault{}, fmt.Errorf("fault %q: %w", s, err)
		}
	}
	if err := f.validate(); err != nil {
		return Fault{}, fmt.Errorf("fault %q: %w", s, err)
	}
	return f, nil
}

// cutMark cuts s before its first mark.
func cutMark(s string) (before, rest string) {
	end := strings.IndexAny(s, "@:/#")
	if end < 0 {
		end = len(s)
	}
	return s[:end], s[end:]
}

func (f *Fault) set(mark byte, value string) (err error) {
	switch mark {
	case '@':
		f.AtToken, err = strconv.Atoi(value)
	case ':':
		f.Delay, err = time.ParseDuration(value)
	case '/':
		f.Every, err = strconv.Atoi(value)
	case '#':
		f.First, err = strconv.Atoi(value)
	}
	return err
}

func (f Fault) validate() error {
	if !slices.Contains(FaultKinds(), f.Kind) {
		return fmt.Errorf("unknown kind %q, known are %v", f.Kind, FaultKinds())
	}
	if f.AtToken < 0 || f.Delay < 0 || f.First < 0 || f.Every < 0 {
		return fmt.Errorf("%s: numbers must not be negative", f.Kind)
	}
	if f.Kind == Stall && f.Delay == 0 {
		return fmt.Errorf("stall needs a delay")
	}
	return nil
}

// hits says whether the fault meets the nth request, from 0.
func (f Fault) hits(n int) bool {
	return (f.First == 0 || n < f.First) && (f.Every < 2 || n%f.Every == f.Every-1)
}

// faultFor gives the first fault that meets the nth request and whether there is one.
func faultFor(faults []Fault, n int) (Fault, bool) {
	for _, f := range faults {
		if f.hits(n) {
			return f, true
		}
	}
	return Fault{}, false
}
