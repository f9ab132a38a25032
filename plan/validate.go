package plan

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"assay/plan/keys"
	"assay/plan/spelling"
	"assay/plan/syntax"
)

// longest is the most a duration may be; more is a slip of the pen.
const longest = 30 * 24 * time.Hour

// Samples are this far apart: closer ones cost the load they stand beside, and of a point that holds one or two nothing can be told.
const (
	closestSamples  = 10 * time.Millisecond
	farthestSamples = time.Minute
)

// validator collects what is wrong with a plan whose defaults are filled.
type validator struct {
	places   map[string]syntax.Place
	problems syntax.Problems
}

// plan checks every rule: first the bounds of each key, then what keys demand of each other.
func (v *validator) plan(p Plan) {
	v.section(reflect.ValueOf(p), "")
	v.server(p)
	v.client(p)
	v.routers(p)
	v.workload(p)
	v.protocol(p)
	v.checks(p.Checks)
	v.telemetry(p.Telemetry)
	v.problems.Sort()
}

func (v *validator) telemetry(t Telemetry) {
	const path = "telemetry.interval"
	if every := t.Interval.Std(); !v.failed(path) && (every < closestSamples || every > farthestSamples) {
		v.fail(path, "value", "", "%s is %s; it is %s at least and %s at most", path, t.Interval, Duration(closestSamples), Duration(farthestSamples))
	}
}

// fail adds a problem at path, or where the nearest section above it stands.
func (v *validator) fail(path, code, hint, format string, args ...any) {
	if v.problems.Full() {
		return
	}
	v.problems = append(v.problems, syntax.Problem{At: v.place(path), Path: path, Code: code, Text: fmt.Sprintf(format, args...), Hint: hint})
}

// failed tells whether a problem at path is known, so that rules on top of it stay silent.
func (v *validator) failed(path string) bool {
	return slices.ContainsFunc(v.problems, func(p syntax.Problem) bool { return p.Path == path })
}

func (v *validator) place(path string) syntax.Place {
	for {
		if at, ok := v.places[path]; ok {
			return at
		}
		cut := strings.LastIndexByte(path, '.')
		if cut < 0 {
			return v.places[""]
		}
		path = path[:cut]
	}
}

// section applies the rules of the tags to every key at and below a section.
func (v *validator) section(s reflect.Value, path string) {
	for _, k := range keys.Of(s.Type()) {
		v.key(s.Field(k.Index), k, keys.Join(path, k.Name))
	}
}

func (v *validator) key(f reflect.Value, k keys.Key, path string) {
	if f.Kind() == reflect.Pointer {
		if f.IsNil() {
			return
		}
		f = f.Elem()
	}
	switch f.Kind() {
	case reflect.Struct:
		if k.Required && !has(v.places, path) {
			v.fail(path, "missing", "", "%s is missing; it holds %s", path, strings.Join(keys.Names(f.Type()), ", "))
			return
		}
		v.section(f, path)
	case reflect.Slice:
		v.items(f, k, path)
	default:
		v.scalar(f, k, path)
	}
}

func (v *validator) items(f reflect.Value, k keys.Key, path string) {
	if k.Required && f.Len() == 0 {
		v.fail(path, "missing", "", "%s is missing: write one value or a list", path)
	}
	for i := range f.Len() {
		at := keys.Join(path, strconv.Itoa(i))
		if f.Index(i).Kind() == reflect.Struct {
			v.section(f.Index(i), at)
			continue
		}
		v.scalar(f.Index(i), k, at)
	}
}

func (v *validator) scalar(f reflect.Value, k keys.Key, path string) {
	switch {
	case f.Kind() == reflect.String:
		v.text(f.String(), k, path)
	case f.Type() == reflect.TypeFor[Duration]() && f.Int() > int64(longest):
		v.fail(path, "value", "", "%s is %s; the most is %s, 30 days", path, Duration(f.Int()), Duration(longest))
	case f.CanInt():
		v.bounds(float64(f.Int()), k, path)
	case f.CanFloat():
		v.bounds(f.Float(), k, path)
	}
}

func (v *validator) text(s string, k keys.Key, path string) {
	if s == "" {
		if k.Required {
			v.fail(path, "missing", "", "%s is missing%s", path, oneOf(k.Enum))
		}
		return
	}
	if strings.ContainsRune(s, 0) {
		v.fail(path, "value", "", "%s holds a zero byte", path)
	}
	v.name(s, k, path)
	if len(k.Enum) > 0 && !slices.Contains(k.Enum, s) {
		v.fail(path, "value", enumHint(path, s), "%s %q is not %s%s", path, s, pick(enumHint(path, s) == "", "known", "in this version"), spelling.Meant(s, k.Enum))
	}
}

// name checks a text that stands in lists.
func (v *validator) name(s string, k keys.Key, path string) {
	switch {
	case k.Longest == 0:
	case utf8.RuneCountInString(s) > k.Longest:
		v.fail(path, "value", "", "%s has %d characters; the most is %d", path, utf8.RuneCountInString(s), k.Longest)
	case strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		v.fail(path, "value", "", "%s %q holds a character that cannot be printed", path, s)
	}
}

// enumHint is what to do about words that other versions of a plan know.
func enumHint(path, s string) string {
	switch {
	case path == "server.runtime" && s == "kubernetes":
		return "this version has the runtimes docker, process and endpoint; for a server in Kubernetes use endpoint with its url"
	}
	return ""
}

func oneOf(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return ": write one of " + strings.Join(words, ", ")
}

func (v *validator) bounds(n float64, k keys.Key, path string) {
	show := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	switch {
	case k.Above != nil && n <= *k.Above && (n != 0 || has(v.places, path) || k.Required):
		v.fail(path, "value", "", "%s must be more than %s", path, show(*k.Above))
	case k.Min != nil && n < *k.Min && (n != 0 || has(v.places, path)):
		v.fail(path, "value", "", "%s is %s; the least is %s", path, show(n), show(*k.Min))
	case k.Max != nil && n > *k.Max:
		v.fail(path, "value", "", "%s is %s; the most is %s", path, show(n), show(*k.Max))
	}
}

// The forms of texts in a plan.
var (
	sha256Form = regexp.MustCompile(`^[0-9a-f]{64}$`)
	pinnedForm = regexp.MustCompile(`^[^\s@]+@sha256:[0-9a-f]{64}$`)
	imageForm  = regexp.MustCompile(`^[a-z0-9][A-Za-z0-9._/:-]*(@sha256:[0-9a-f]{64})?$`)
	headerForm = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
	envForm    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	gpusForm   = regexp.MustCompile(`^(all|none|count:[1-9][0-9]?)$`)
	deviceForm = regexp.MustCompile(`^([0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]$|^(GPU|MIG)-[0-9a-fA-F-]{8,}$`)
	secretForm = regexp.MustCompile(`(?i)(^|[_-])(TOKEN|KEY|SECRET|PASSWORD|PASSWD)$`)
	// numbersForm is a list of numbers and ranges: "0", "0,1", "0-31,64-95".
	numbersForm    = regexp.MustCompile(`^[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*$`)
	ulimitForm     = regexp.MustCompile(`^(unlimited|[0-9]{1,18})(:(unlimited|[0-9]{1,18}))?$`)
	capabilityForm = regexp.MustCompile(`^[A-Z][A-Z_]{2,40}$`)
	userForm       = regexp.MustCompile(`^[0-9]{1,10}(:[0-9]{1,10})?$`)
	shmForm        = regexp.MustCompile(`^[1-9][0-9]{0,9}[kmgKMG]?$`)
)
