package docker

import (
	"strings"
	"testing"
)

func TestWithoutInit(t *testing.T) {
	for _, c := range []struct {
		program string
		args    []string
		want    string
	}{
		{"/run/podman-init", []string{"--", "/hello", "--port", "1"}, "/hello --port 1"},
		{"/hello", []string{"--", "x"}, "/hello -- x"},
		{"/run/podman-init", nil, "/run/podman-init"},
	} {
		if got := strings.Join(withoutInit(c.program, c.args), " "); got != c.want {
			t.Errorf("%s %v: %q", c.program, c.args, got)
		}
	}
}
