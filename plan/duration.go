package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Duration is a time span as a plan writes it: "30s", "20m", "1h30m".
type Duration time.Duration

// ParseDuration reads "30s", "20m" or "1h30m"; a bare 0 is no time. A negative span is refused.
func ParseDuration(text string) (Duration, error) {
	v, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration: write 30s, 20m or 1h30m", text)
	}
	if v < 0 {
		return 0, fmt.Errorf("%q is negative: write 30s, 20m or 1h30m", text)
	}
	return Duration(v), nil
}

// Std gives the standard library's form.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String gives the shortest form that reads back: "20m", not "20m0s".
func (d Duration) String() string {
	s := time.Duration(d).String()
	for _, tail := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, tail) {
			s = s[:len(s)-2]
		}
	}
	return s
}

// MarshalJSON writes the text form.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads the text form.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("a duration is a text such as 30s or 20m, not %s", b)
	}
	v, err := ParseDuration(s)
	if err != nil {
		return err
	}
	*d = v
	return nil
}
