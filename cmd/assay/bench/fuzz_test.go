package bench

import (
	"strings"
	"testing"
)

// FuzzURL: what is taken for a server's URL has no secret, no query and no API path, and is taken again as it is.
func FuzzURL(f *testing.F) {
	for _, s := range []string{"localhost:8000", "http://h/v1/completions", "https://[::1]:8/x/v1/", "http://u:p@h", "http://h?token=1", "http://h/v1/v1", "http://1.2.3", "//", "unix:///run/x.sock", "unix:///a b", "http://%41"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		base, endpoint, err := splitEndpoint(raw)
		if err != nil {
			return
		}
		if strings.ContainsAny(base, "?#@ \r\n") && !strings.ContainsAny(raw, "%@") {
			t.Errorf("%q became %q", raw, base)
		}
		if endpoint != "chat" && endpoint != "completions" {
			t.Errorf("%q: endpoint %q", raw, endpoint)
		}
		if _, _, err := splitEndpoint(base); err != nil {
			t.Errorf("%q became %q, which is refused: %v", raw, base, err)
		}
	})
}
