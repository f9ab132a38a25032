package disguise

import (
	"encoding/json"
	"testing"
)

// TestSerials: what is called a serial number goes wherever it stands, the longer of two first; a word that is no number stays.
func TestSerials(t *testing.T) {
	var doc any
	const text = `{"Members":[{"SerialNumber":"WZP123"},{"SerialNumber":"WZP12345","AssetTag":"chassis"},{"SerialNumber":"1"}]}`
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	cut := Serials([]any{doc})
	for in, want := range map[string]string{"/Systems/WZP12345/WZP123": "/Systems/serial2/serial1", "/Systems/1 of a chassis WZP1234": "/Systems/1 of a chassis WZP1234"} {
		if got := cut(in); got != want {
			t.Errorf("%s becomes %s", in, got)
		}
	}
	if got := Serials(nil)("WZP123"); got != "WZP123" {
		t.Error(got)
	}
}
