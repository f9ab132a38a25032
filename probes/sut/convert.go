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
func GiveReason(v reflect.Value, reason string) { giveWords(v, "Unknown", reason) }

// GiveNA says in every fact below v that has nothing why it does not apply.
func GiveNA(v reflect.Value, reason string) { giveWords(v, "NA", reason) }

// giveWords fills a field of those structs below v that are empty.
func giveWords(v reflect.Value, name, words string) {
	if v.Kind() != reflect.Struct {
		return
	}
	if f := v.FieldByName(name); f.IsValid() {
		if v.IsZero() {
			f.SetString(words)
		}
		return
	}
	for i := range v.NumField() {
		giveWords(v.Field(i), name, words)
	}
}

// EachText rewrites every text below v that can be set: values, sources, reasons and what else was read.
func EachText(v reflect.Value, rewrite func(string) string) { rewriteTexts(v, "", rewrite) }

// AroundValues rewrites what stands around the values below v: sources, reasons and what else was read.
func AroundValues(v reflect.Value, rewrite func(string) string) { rewriteTexts(v, "Value", rewrite) }

// rewriteTexts leaves out fields of one name.
func rewriteTexts(v reflect.Value, except string, rewrite func(string) string) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() && v.String() != "" {
			v.SetString(rewrite(v.String()))
		}
	case reflect.Slice:
		for i := range v.Len() {
			rewriteTexts(v.Index(i), except, rewrite)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name != except {
				rewriteTexts(v.Field(i), except, rewrite)
			}
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
