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

	"assay/plan/spelling"
)

// longest is the most a duration may be; more is a slip of the pen.
const longest = 30 * 24 * time.Hour

// validator collects what is wrong with a plan whose defaults are filled.
type validator struct {
	places   map[string]place
	problems problems
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
	v.problems.sort()
}

// fail adds a problem at path, or where the nearest section above it stands.
func (v *validator) fail(path, code, hint, format string, args ...any) {
	if v.problems.full() {
		return
	}
	v.problems = append(v.problems, problem{v.place(path), path, code, fmt.Sprintf(format, args...), hint})
}

// failed tells whether a problem at path is known, so that rules on top of it stay silent.
func (v *validator) failed(path string) bool {
	return slices.ContainsFunc(v.problems, func(p problem) bool { return p.Path == path })
}

func (v *validator) place(path string) place {
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
	for _, k := range keysOf(s.Type()) {
		v.key(s.Field(k.Index), k, join(path, k.Name))
	}
}

func (v *validator) key(f reflect.Value, k key, path string) {
	if f.Kind() == reflect.Pointer {
		if f.IsNil() {
			return
		}
		f = f.Elem()
	}
	switch f.Kind() {
	case reflect.Struct:
		if k.Required && !has(v.places, path) {
			v.fail(path, "missing", "", "%s is missing; it holds %s", path, strings.Join(keyNames(f.Type()), ", "))
			return
		}
		v.section(f, path)
	case reflect.Slice:
		v.items(f, k, path)
	default:
		v.scalar(f, k, path)
	}
}

func (v *validator) items(f reflect.Value, k key, path string) {
	if k.Required && f.Len() == 0 {
		v.fail(path, "missing", "", "%s is missing: write one value or a list", path)
	}
	for i := range f.Len() {
		at := join(path, strconv.Itoa(i))
		if f.Index(i).Kind() == reflect.Struct {
			v.section(f.Index(i), at)
			continue
		}
		v.scalar(f.Index(i), k, at)
	}
}

func (v *validator) scalar(f reflect.Value, k key, path string) {
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

func (v *validator) text(s string, k key, path string) {
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
func (v *validator) name(s string, k key, path string) {
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

func (v *validator) bounds(n float64, k key, path string) {
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
	gpusForm   = regexp.MustCompile(`^(all|none|[0-9]+(,[0-9]+)*)$`)
	secretForm = regexp.MustCompile(`(?i)(^|[_-])(TOKEN|KEY|SECRET|PASSWORD|PASSWD)$`)
	shmForm    = regexp.MustCompile(`^[1-9][0-9]{0,9}[kmgKMG]?$`)
	checkForm  = regexp.MustCompile(`^[a-z][a-z0-9_.-]*$`)
)

// checks go by id; which ids there are is known where the checks are.
func (v *validator) checks(checks map[string]any) {
	for id, want := range checks {
		path := "checks." + id
		if !checkForm.MatchString(id) {
			v.fail(path, "value", "", "checks: %q is not the id of a check; ids are lower case, such as gpu_count", id)
		}
		if s, ok := want.(string); ok && strings.TrimSpace(s) == "" {
			v.fail(path, "value", "", "%s is empty: write required, ignore or the wanted value", path)
		}
	}
}
