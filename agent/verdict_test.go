package agent

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/fault"
	"assay/probes"
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

func TestVerdictOf(t *testing.T) {
	point := func(id string, s result.PointState, codes ...string) result.Point {
		p := result.Point{ID: id, State: s}
		for _, code := range codes {
			p.Reasons = append(p.Reasons, result.Reason{Code: code, Text: "text", Evidence: "seen"})
		}
		return p
	}
	cases := []struct {
		name    string
		state   result.State
		points  []result.Point
		verdict string
		reasons []string
	}{
		{"valid", result.Done, []result.Point{point("c1", result.PointValid)}, result.Valid, nil},
		{"a remark on a valid point is no reason", result.Done, []result.Point{point("c1", result.PointValid, "errors")}, result.Valid, nil},
		{"queued and over capacity are results", result.Done,
			[]result.Point{point("a", result.PointQueued, "queue_seen"), point("b", result.PointOver, "kv_precheck")}, result.Valid, nil},
		{"each reason of each bad point", result.Done,
			[]result.Point{point("a", result.PointNotValid, "x", "y"), point("b", result.PointFailed, "z"), point("c", result.PointSkipped)},
			result.NotValid, []string{"x point a: text", "y point a: text", "z point b: text", "point point c is skipped"}},
		{"not finished", result.Interrupted, []result.Point{point("a", result.PointValid)}, result.NotValid,
			[]string{"not_finished the run did not finish: interrupted"}},
		{"failed before any point", result.Failed, nil, result.NotValid, []string{"not_finished the run did not finish: failed"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			verdict, reasons := verdictOf(c.state, c.points)
			var got []string
			for _, r := range reasons {
				got = append(got, r.Code+" "+r.Text)
			}
			if diff := cmp.Diff(c.reasons, got); diff != "" || verdict != c.verdict || reasons == nil {
				t.Errorf("%s, reasons %v\n%s", verdict, reasons, diff)
			}
		})
	}
}

func TestRefuseNamesEveryFailedCheck(t *testing.T) {
	checks := []probes.Check{
		{ID: "governor", State: probes.CheckFail, Text: "the governor is powersave", Hint: "set performance"},
		{ID: "swap", State: probes.CheckWarn, Text: "swap is on", Hint: "turn it off"},
		{ID: "clock", State: probes.CheckFail, Text: "the clock is not synchronised"},
		{ID: "disk", State: probes.CheckUnknown, Text: "the disk is not known"},
	}
	f := fault.Of(refuse(checks), fault.Client)
	if f == nil || f.Code != "preflight.not_fit" {
		t.Fatalf("%v", f)
	}
	if want := "the machine is not fit to measure: governor: the governor is powersave; clock: the clock is not synchronised"; f.Text != want {
		t.Errorf("text %q", f.Text)
	}
	if want := "governor: set performance; or relax a check in the plan, e.g. checks: {governor: ignore}"; f.Hint != want {
		t.Errorf("hint %q", f.Hint)
	}
	if err := refuse(checks[1:2]); err != nil {
		t.Errorf("a warning refuses: %v", err)
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
