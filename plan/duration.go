package plan

import (
	"encoding/json"
	"fmt"
	"time"
)

// Duration is a time span as a plan writes it: "30s", "20m", "1h30m".
type Duration time.Duration

// Std gives the standard library's form.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String gives the shortest form that reads back: "20m", not "20m0s".
func (d Duration) String() string {
	s := time.Duration(d).String()
	for _, tail := range []string{"m0s", "h0m"} {
		if len(s) > len(tail) && s[len(s)-len(tail):] == tail {
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
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("%q is not a duration: write 30s, 20m or 1h30m", s)
	}
	*d = Duration(v)
	return nil
}
