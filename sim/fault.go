package sim

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Fault makes requests fail in a known way.
type Fault struct {
	Kind    FaultKind
	AtToken int           // tokens sent before it happens
	Amount  int           // status, tokens or bytes, as its kind says; 0 is its kind's own
	Delay   time.Duration // as its kind says; 0 is its kind's own
	First   int           // only the first so many requests; 0 is all
	Every   int           // only each so-many-th request; 0 and 1 are all
}

// ParseFault reads "kind[@token][=amount][:delay][/every][#first]": "cut@5", "stall@3:2s/10", "reject:1s#4", "status=503",
// "die:2s/10#10" (the tenth request alone).
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
	end := strings.IndexAny(s, "@=:/#")
	if end < 0 {
		end = len(s)
	}
	return s[:end], s[end:]
}

func (f *Fault) set(mark byte, value string) (err error) {
	switch mark {
	case '@':
		f.AtToken, err = whole(value)
	case '=':
		f.Amount, err = whole(value)
	case ':':
		if f.Delay, err = time.ParseDuration(value); err != nil {
			err = errors.New("write a time such as 500ms or 2s")
		}
	case '/':
		f.Every, err = atLeastOne(value)
	case '#':
		f.First, err = atLeastOne(value)
	}
	if err != nil {
		return fmt.Errorf("%c%s: %w", mark, value, err)
	}
	return nil
}

// atLeastOne reads a number whose 0 would mean something else than it says.
func atLeastOne(text string) (int, error) {
	n, err := whole(text)
	if err == nil && n < 1 {
		err = errors.New("must be at least 1")
	}
	return n, err
}

func whole(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, errors.New("write a whole number")
	}
	return n, nil
}

func (f Fault) validate() error {
	if _, known := f.info(); !known {
		return fmt.Errorf("unknown kind %q, known are %v", f.Kind, FaultKinds())
	}
	switch {
	case f.AtToken < 0 || f.Amount < 0 || f.Delay < 0 || f.First < 0 || f.Every < 0:
		return fmt.Errorf("%s: numbers must not be negative", f.Kind)
	case f.Kind == Stall && f.Delay == 0:
		return fmt.Errorf("stall needs a delay")
	case f.Kind == Status && f.Amount != 0 && (f.Amount < 400 || f.Amount > 599):
		return fmt.Errorf("status=%d is no status of an error", f.Amount)
	case f.Amount > bodyLimit:
		return fmt.Errorf("%s=%d is more than %d", f.Kind, f.Amount, bodyLimit)
	}
	return nil
}

// complete fills in what f leaves to its kind.
func (f Fault) complete() Fault {
	kind, _ := f.info()
	f.Amount = orDefault(f.Amount, kind.Amount)
	if f.Delay == 0 {
		f.Delay = kind.Delay
	}
	return f
}

// hits says whether the fault meets the nth request, from 0.
func (f Fault) hits(n int) bool {
	return (f.First == 0 || n < f.First) && (f.Every < 2 || n%f.Every == f.Every-1)
}

// faultsFor gives the faults that meet the nth request, complete.
func faultsFor(faults []Fault, n int) []Fault {
	var list []Fault
	for _, f := range faults {
		if f.hits(n) {
			list = append(list, f.complete())
		}
	}
	return list
}

// named reads the faults in a request's model name: those of "sim+crlf+cut@3" on a server of the model "sim". False when the
// name means neither the model nor faults of it.
func named(name, model string) ([]Fault, bool) {
	if name == model {
		return nil, true
	}
	rest, ok := strings.CutPrefix(name, model+"+")
	if !ok {
		return nil, false
	}
	var list []Fault
	for text := range strings.SplitSeq(rest, "+") {
		f, err := ParseFault(text)
		if err != nil {
			return nil, false
		}
		list = append(list, f)
	}
	return list, true
}
