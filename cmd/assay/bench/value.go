package bench

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"assay/plan"
)

// flagValue is a flag that refuses a bad value at once, so that the error names the flag.
type flagValue struct {
	text, kind string
	set        func(text string) error
}

// Set reads what the user wrote.
func (f *flagValue) Set(text string) error {
	if err := f.set(text); err != nil {
		return err
	}
	f.text = text
	return nil
}

func (f *flagValue) String() string { return f.text }

// Type is the word for a value in the help.
func (f *flagValue) Type() string { return f.kind }

// reading turns a flag's text into a value; want says what could have been written instead.
type reading[T any] struct {
	kind, want string
	read       func(text string) (T, bool)
}

// one is a flag of one value; what into holds is its default.
func (r reading[T]) one(into *T, shown string) *flagValue {
	return &flagValue{shown, r.kind, func(text string) error {
		v, ok := r.read(text)
		if !ok {
			return errors.New("write " + r.want)
		}
		*into = v
		return nil
	}}
}

// list is a flag of values with commas between.
func (r reading[T]) list(into *[]T, example string) *flagValue {
	return &flagValue{"", r.kind, func(text string) error {
		var all []T
		for part := range strings.SplitSeq(text, ",") {
			v, ok := r.read(strings.TrimSpace(part))
			if !ok {
				return errors.New("write " + r.want + ", or several as in " + example)
			}
			all = append(all, v)
		}
		*into = all
		return nil
	}}
}

// The most that a plan takes.
const (
	mostLoad   = 1_000_000
	mostTokens = 1 << 24
)

func count(most int, want string) reading[int] {
	return reading[int]{"number", want, func(text string) (int, bool) {
		n, err := strconv.Atoi(text)
		return n, err == nil && n >= 1 && n <= most
	}}
}

func perSecond() reading[float64] {
	return reading[float64]{"number", "a rate above 0 such as 10 or 0.5", func(text string) (float64, bool) {
		v, err := strconv.ParseFloat(text, 64)
		return v, err == nil && !math.IsNaN(v) && v > 0 && v <= mostLoad
	}}
}

func tokens() reading[plan.Length] {
	return reading[plan.Length]{"tokens", "a number of tokens of at least 1 such as 256 or 8k", func(text string) (plan.Length, bool) {
		n, err := plan.ParseLength(text)
		return n, err == nil && n >= 1 && n <= mostTokens
	}}
}

func seed() reading[uint64] {
	return reading[uint64]{"number", "a whole number of at least 0", func(text string) (uint64, bool) {
		n, err := strconv.ParseUint(text, 10, 64)
		return n, err == nil
	}}
}

// span is a time of at least min.
func span(least time.Duration) reading[time.Duration] {
	want := "a time of at least 0s such as 500ms, 30s or 2m"
	if least > 0 {
		want = "a time above 0 such as 500ms, 30s or 2m"
	}
	return reading[time.Duration]{"duration", want, func(text string) (time.Duration, bool) {
		v, err := time.ParseDuration(text)
		return v, err == nil && v >= least
	}}
}
