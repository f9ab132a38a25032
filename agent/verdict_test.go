package agent

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/fault"
	"assay/result"
)

func TestEndState(t *testing.T) {
	oom := fault.New(fault.Image, "gone", "", "the image is gone")
	cases := []struct {
		name       string
		err, cause error
		state      result.State
		code       string
	}{
		{"all went well", nil, nil, result.Done, ""},
		{"a fault keeps its layer", fmt.Errorf("pull: %w", oom), nil, result.Failed, "image.gone"},
		{"any error is a fault", errors.New("boom"), nil, result.Failed, "server.failed"},
		{"canceled", errors.New("context canceled"), errCanceled, result.Canceled, "client.canceled"},
		{"canceled with the last point measured", nil, errCanceled, result.Canceled, "client.canceled"},
		{"told to stop", errors.New("context canceled"), errStopping, result.Interrupted, "client.interrupted"},
		{"stopped for another cause", oom, errors.New("terminated"), result.Interrupted, "client.interrupted"},
	}
	for _, c := range cases {
		state, f := endState("20261201T1", c.err, c.cause)
		code := ""
		if f != nil {
			code = f.Code
		}
		if f != nil && c.cause != nil && !strings.Contains(f.Hint, "`assay run --resume 20261201T1`") {
			t.Errorf("%s: hint %q", c.name, f.Hint)
		}
		if state != c.state || code != c.code {
			t.Errorf("%s: %s %q, want %s %q", c.name, state, code, c.state, c.code)
		}
	}
}

func TestLayerOfEveryPhase(t *testing.T) {
	var got []string
	for _, p := range append((&execution{}).phases(), phase{name: "router"}, phase{name: "measure"}, phase{name: "stop start"}, phase{name: "stop telemetry"}) {
		got = append(got, p.name+" "+string(layerOf(p.name)))
	}
	want := "preflight preflight, pull image, start server, ready server, telemetry telemetry, points client, collect store, " +
		"router router, measure client, stop start server, stop telemetry telemetry"
	if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
		t.Error(diff)
	}
}
