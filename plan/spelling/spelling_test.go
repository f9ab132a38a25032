package spelling

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"concurrency", "requests", "duration", "min_duration", "warmup"}
	for word, want := range map[string]string{
		"concurency": "concurrency", "Requests": "requests", "request": "requests", "durations": "duration",
		"min-duration": "min_duration", "warm_up": "warmup", "wramup": "warmup", "rate": "", "": "", "x": "",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}
