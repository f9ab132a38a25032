package containers

import (
	"strings"
	"testing"

	"assay/containers/endpoint"
	"assay/containers/instancetest"
	"assay/containers/process"
)

// TestInsideElsewhere: what runs somewhere else is not looked into; a program that is no Python has no packages.
func TestInsideElsewhere(t *testing.T) {
	if got := Inside(t.Context(), endpoint.Servers{"http://127.0.0.1:1"}); got != nil {
		t.Errorf("%+v", got)
	}
	got := Inside(t.Context(), instancetest.Start(t, process.Runtime{}, instancetest.Child(t, "server")))
	if got == nil || !strings.Contains(got.Where, "pid ") || len(got.Unread) != 0 {
		t.Errorf("%+v", got)
	}
}
