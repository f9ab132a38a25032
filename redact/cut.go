package redact

import "bytes"

// ellipsis is what whoever shortens a text leaves in the place of its end.
const ellipsis = "…"

// cut is the beginning of a secret whose end was cut off, and what takes its place; without a mark there is none.
type cut struct {
	start, end int
	mark       []byte
}

// cutOff finds the first beginning of a secret with which a shortened text ends. One of less than MinLength bytes stands in texts by chance.
func (r *Redactor) cutOff(b []byte, from int) cut {
	for {
		i := bytes.Index(b[from:], []byte(ellipsis))
		if i < 0 {
			return cut{}
		}
		end := from + i
		for _, f := range r.forms {
			if n := endsWithBeginning(b[:end], f.text); n > 0 {
				return cut{end - n, end, f.mark}
			}
		}
		from = end + len(ellipsis)
	}
}

// endsWithBeginning is how many bytes of the beginning of a form b ends with.
func endsWithBeginning(b, form []byte) int {
	if len(b) < MinLength || !bytes.Contains(form, b[len(b)-MinLength:]) {
		return 0 // told at once of nearly every text
	}
	for n := min(len(form)-1, len(b)); n >= MinLength; n-- {
		if bytes.HasSuffix(b, form[:n]) {
			return n
		}
	}
	return 0
}
