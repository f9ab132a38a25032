package strict

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type form struct {
	Allow inner `yaml:"allow"`
}

type inner struct {
	Images []string `yaml:"images"`
	Host   bool     `yaml:"host_network"`
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       form
		says       string
	}{
		{"nothing", "", form{inner{Images: []string{"*"}}}, ""},
		{"comments", "# nothing\n", form{inner{Images: []string{"*"}}}, ""},
		{"a list takes the default's place", "allow:\n  images: [a, b]\n", form{inner{Images: []string{"a", "b"}}}, ""},
		{"a key without a list", "allow: {host_network: true}", form{inner{Images: []string{"*"}, Host: true}}, ""},
		{"an empty list", "allow: {images: [], host_network: true}", form{inner{Images: []string{}, Host: true}}, ""},
		{"unknown key", "allow:\n  image: [a]\n", form{}, "[2:3] unknown field \"image\""},
		{"key twice", "allow: {}\nallow: {}\n", form{}, "allow"},
		{"wrong kind", "allow: {host_network: [x]}\n", form{}, "[1:"},
		{"two documents", "allow: {}\n---\nallow: {}\n", form{}, "second document"},
		{"no YAML", "allow: {", form{}, "1:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := form{inner{Images: []string{"*"}}}
			err := Decode([]byte(c.text), &got)
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v, want %q", err, c.says)
				}
				return
			}
			if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
				t.Error(err, diff)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("allow: {images: [a]}")
	f.Fuzz(func(_ *testing.T, text string) {
		var v form
		_ = Decode([]byte(text), &v)
	})
}
