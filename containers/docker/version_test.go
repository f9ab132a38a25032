package docker

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/versions"

	"assay/containers/enginetest"
	"assay/containers/instance"
	"assay/containers/socket"
)

// watchtower#2124: after its upgrade an engine refused "client version 1.25 is too old. Minimum supported API version is 1.44"; an older one
// refuses what is too new. What both know is agreed on before anything is asked.
func TestField_watchtower_2124(t *testing.T) {
	for _, c := range []struct{ least, most, used string }{
		{"1.12", "1.41", "1.41"}, // Docker 20.10
		{"1.24", "1.43", "1.43"}, // Docker 24
		{"1.44", "1.52", "1.51"}, // Docker 29.0
		{"1.40", "1.55", "1.51"}, // Docker 29.7
		{"1.12", "1.24", "1.24"},
	} {
		var asked []string
		form := regexp.MustCompile(`^/v([0-9.]+)/(info|version)$`)
		path := enginetest.Socket(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("API-Version", c.most)
			if strings.HasSuffix(r.URL.Path, "/_ping") {
				fmt.Fprint(w, "OK")
				return
			}
			m := form.FindStringSubmatch(r.URL.Path)
			if m == nil || versions.LessThan(m[1], c.least) || versions.GreaterThan(m[1], c.most) {
				w.WriteHeader(http.StatusBadRequest)
				_ = json.NewEncoder(w).Encode(map[string]string{"message": "client version is too old or too new: " + r.URL.Path})
				return
			}
			asked = append(asked, m[1])
			fmt.Fprint(w, "{}")
		}))
		d := Runtime{At: socket.At(path)}
		client, err := d.connect(t.Context())
		if err != nil {
			t.Fatalf("%s to %s: %v", c.least, c.most, err)
		}
		_, err = d.agree(t.Context(), client, instance.Spec{})
		if c.most == "1.24" {
			enginetest.WantFault(t, err, "preflight.engine_too_old", "1.24")
			err = nil
		}
		if err != nil || len(asked) != 2 || asked[0] != c.used {
			t.Errorf("an engine of %s to %s was asked by %q: %v", c.least, c.most, asked, err)
		}
		client.Close()
	}
}
