package fault

import (
	"strings"
	"testing"
)

func TestHide(t *testing.T) {
	const key = `sk-abc"d/ef+0123456789`
	for _, c := range []struct{ name, text, secret, want string }{
		{"none known", "bad key x", "", "bad key x"},
		{"not there", "bad key", key, "bad key"},
		{"plain", "bad key " + key + "!", key, "bad key [token]!"},
		{"bearer", "got Bearer " + key + " and bearer " + key, key, "got [token] and [token]"},
		{"glued", "a" + key + "b", key, "a[token]b"},
		{"as JSON", `{"e":"sk-abc\"d/ef+0123456789"}`, key, `{"e":"[token]"}`},
		{"as query", "?k=sk-abc%22d%2Fef%2B0123456789", key, "?k=[token]"},
		{"cut off", "Bearer " + key[:9], key, "[token]"},
		{"short, a word", "bad key x", "x", "bad key [token]"},
		{"short, by chance", "Exception: next x.", "x", "Exception: next [token]."},
		{"itself hidden", "[token] token", "token", "[[token]] [token]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Hide(c.text, c.secret); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func FuzzHide(f *testing.F) {
	f.Add("bad key sk-0123456789", "sk-0123456789")
	f.Add("xxxx", "x")
	f.Fuzz(func(t *testing.T, text, secret string) {
		got := Hide(text, secret)
		if len(secret) >= shortSecret && !strings.Contains(Hidden, secret) && strings.Contains(text, secret) && strings.Count(got, secret) >= strings.Count(text, secret) {
			t.Errorf("%q still holds %q", got, secret)
		}
	})
}
