package fault

import (
	"encoding/base64"
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
		{"as query, small letters", "?k=sk-abc%22d%2fef%2b0123456789", key, "?k=[token]"},
		{"as Python's query", "?k=sk-abc%22d/ef%2B0123456789", key, "?k=[token]"},
		{"as a form's field", "k=one%20two/three%21", "one two/three!", "k=[token]"},
		{"as Python's JSON", `{"e":"caf\u00e9-0123456789"}`, "café-0123456789", `{"e":"[token]"}`},
		{"in a web page", "<p>bad key a&lt;b&amp;c-0123456789", "a<b&c-0123456789", "<p>bad key [token]"},
		{"as Basic", "Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+key)), key, "Basic bWU6[token]Q=="},
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

// TestFormsInBase64: wherever the secret begins and whatever follows, one of its forms stands in the encoded text.
func TestFormsInBase64(t *testing.T) {
	const key = "hf_0123~~~789>>>?"
	for _, before := range []string{"", "a", "ab", "abc", "user:"} {
		for _, after := range []string{"", "x", "xy"} {
			for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
				text := enc.EncodeToString([]byte(before + key + after))
				if got := Hide(text, key); !strings.Contains(got, Hidden) || len(got) > len(text)-len(key)+len(Hidden) {
					t.Errorf("%q in %q: %q", key, before+key+after, got)
				}
			}
		}
	}
}
