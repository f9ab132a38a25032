package redact

import (
	"bytes"
	"cmp"
	"slices"

	"assay/fault"
)

// MinLength is the length in bytes from which a value is hidden wherever it stands: a shorter one stands in texts by chance.
const MinLength = 8

// Secret is a value that is told to nobody, and the name by which a plan knows it.
type Secret struct{ Name, Value string }

// Redactor writes "[secret NAME]" where a secret stands in any of its forms. A nil one hides nothing. It is not changed by its use.
type Redactor struct {
	forms []form // the longest first
}

type form struct{ text, mark []byte }

// New makes a redactor of the secrets that are long enough; nil when there are none.
func New(secrets ...Secret) *Redactor {
	var r Redactor
	for _, s := range secrets {
		for _, text := range fault.Forms(s.Value) {
			if len(s.Value) >= MinLength {
				r.forms = append(r.forms, form{[]byte(text), []byte("[secret " + s.Name + "]")})
			}
		}
	}
	if len(r.forms) == 0 {
		return nil
	}
	slices.SortStableFunc(r.forms, func(a, b form) int { return cmp.Compare(len(b.text), len(a.text)) })
	return &r
}

// Holds tells whether a secret stands in b.
func (r *Redactor) Holds(b []byte) bool {
	return r != nil && (slices.ContainsFunc(r.forms, func(f form) bool { return bytes.Contains(b, f.text) }) || r.cutOff(b, 0).mark != nil)
}

// Bytes gives b without secrets; b itself is not changed.
func (r *Redactor) Bytes(b []byte) []byte {
	if r == nil {
		return b
	}
	for _, f := range r.forms {
		if bytes.Contains(b, f.text) {
			b = bytes.ReplaceAll(b, f.text, f.mark)
		}
	}
	for c := r.cutOff(b, 0); c.mark != nil; c = r.cutOff(b, c.start+len(c.mark)) {
		b = slices.Concat(b[:c.start], c.mark, b[c.end:])
	}
	return b
}

// Text gives a text without secrets.
func (r *Redactor) Text(s string) string { return string(r.Bytes([]byte(s))) }

// Fault gives a fault whose words hold no secret.
func (r *Redactor) Fault(f *fault.Fault) *fault.Fault {
	if r == nil || f == nil {
		return f
	}
	clean := *f
	clean.Text, clean.Hint = r.Text(f.Text), r.Text(f.Hint)
	return &clean
}

// begun is how many of the last bytes of b may be the beginning of a secret.
func (r *Redactor) begun(b []byte) int {
	for n := min(len(r.forms[0].text)-1, len(b)); n > 0; n-- {
		end := b[len(b)-n:]
		if slices.ContainsFunc(r.forms, func(f form) bool { return bytes.HasPrefix(f.text, end) }) {
			return n
		}
	}
	return 0
}
