package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSecrets: a key in a tool's configuration is told, one that it took out is not.
func TestSecrets(t *testing.T) {
	for content, want := range map[string]string{
		`{"backend": {"api_key": "sk-abcdef123"}}`:              "api_key",
		"endpoint_config:\n  api_key: sk-abcdef123\n":           "api_key",
		`{"headers": {"Authorization": "Bearer abcdef123456"}}`: "authorization",
		`{"api_key": null}`:                                     "",
		`{"api_key": "<redacted>"}`:                             "",
		"api_key: <redacted>\n":                                 "",
		`{"api_key": "********"}`:                               "",
		`{"text": "your api_key"}`:                              "",
	} {
		path := filepath.Join(t.TempDir(), "x.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := src.Secrets()
		if err != nil || (len(got) > 0) != (want != "") || len(got) > 0 && (!strings.Contains(got[0], want) || strings.Contains(got[0], "abcdef")) {
			t.Errorf("%s: %v, %v", content, got, err)
		}
	}
}
