package plan

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Length is a number of tokens; a plan may write 8192 or "8k" (× 1024).
type Length int

// ParseLength reads "8192" or "8k".
func ParseLength(s string) (Length, error) {
	digits, k := strings.CutSuffix(strings.ToLower(s), "k")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || n > 1<<40 {
		return 0, fmt.Errorf("%q is not a number of tokens: write 8192 or 8k", s)
	}
	if k {
		n *= 1024
	}
	return Length(n), nil
}

// UnmarshalJSON reads a number or a text with k.
func (l *Length) UnmarshalJSON(b []byte) error {
	s := string(b)
	if len(b) > 0 && b[0] == '"' {
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
	}
	v, err := ParseLength(s)
	if err != nil {
		return err
	}
	*l = v
	return nil
}
