package endpoint

import (
	"testing"
)

func TestBaseURL(t *testing.T) {
	for raw, want := range map[string]string{
		"http://127.0.0.1:8000":                     "http://127.0.0.1:8000",
		"http://127.0.0.1:8000/":                    "http://127.0.0.1:8000",
		"http://h:8000/v1":                          "http://h:8000",
		"http://h:8000/v1/":                         "http://h:8000",
		"http://h:8000/v1/completions":              "http://h:8000",
		" https://h/team/v1/chat/completions?x=1#y": "https://h/team",
		"http://[::1]:8000/v1/models":               "http://[::1]:8000",
		"http://v1/v1/chat/completions":             "http://v1",
		"unix:///run/engine.sock":                   "unix:///run/engine.sock",
		" unix:///run/v1/a%20b":                     "unix:///run/v1/a%20b", // a path as it is written
	} {
		if got, err := baseURL(raw); err != nil || got != want {
			t.Errorf("baseURL(%q) = %q, %v, want %q", raw, got, err, want)
		}
	}
}
