package sut

import (
	"errors"
	"fmt"
	"reflect"
)

// Convert turns a fact into another, with the same source. A value that cannot be parsed is unknown.
func Convert[A, B any](f Fact[A], parse func(A) (B, error)) Fact[B] {
	if !f.IsKnown() {
		return Fact[B]{Unknown: f.Unknown, NA: f.NA}
	}
	v, err := parse(f.Value)
	if err != nil {
		return Unknown[B]("%s reads %q", f.Source, fmt.Sprint(f.Value))
	}
	return Known(v, f.Source)
}

// ErrNoValue marks a text that stands for no value.
var ErrNoValue = errors.New("no value")

// First gives the first known fact, or the first of all.
func First[T any](facts ...Fact[T]) Fact[T] {
	for _, f := range facts {
		if f.IsKnown() {
			return f
		}
	}
	return facts[0]
}

// GiveReason says in every fact and list below v that has nothing why it has nothing.
func GiveReason(v reflect.Value, reason string) {
	if v.Kind() != reflect.Struct {
		return
	}
	if f := v.FieldByName("Unknown"); f.IsValid() {
		if v.IsZero() {
			f.SetString(reason)
		}
		return
	}
	for i := range v.NumField() {
		GiveReason(v.Field(i), reason)
	}
}

// EachText rewrites the words around the values below v: sources, reasons and what else was read.
func EachText(v reflect.Value, rewrite func(string) string) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			EachText(v.Index(i), rewrite)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch v.Type().Field(i).Name {
			case "Source", "Unknown", "Other":
				if f := v.Field(i); f.Kind() == reflect.String {
					f.SetString(rewrite(f.String()))
					continue
				}
			}
			EachText(v.Field(i), rewrite)
		}
	}
}

// Reason says why a fact has no value.
func (f Fact[T]) Reason() string {
	for _, r := range []string{f.Unknown, f.NA} {
		if r != "" {
			return r
		}
	}
	return "not probed"
}
