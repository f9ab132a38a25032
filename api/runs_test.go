package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/result"
	"assay/store"
)

func TestStatusCodes(t *testing.T) {
	f := newFixture(t)
	ended, waiting := f.endedRun(), f.queueRun()
	sched := store.Schedule{ID: "s1", Name: "nightly", Cron: "0 3 * * *", Plan: ended.Plan, Enabled: true}
	if err := f.Store.CreateSchedule(t.Context(), sched); err != nil {
		t.Fatal(err)
	}
	big := "name: " + strings.Repeat("x", maxBody)
	tests := []struct {
		method, path, body string
		headers            []string
		status             int
		code               string // of the problem
	}{
		{"GET", "/healthz", "", nil, 200, ""},
		{"GET", "/version", "", nil, 200, ""},
		{"GET", "/api/v1/version", "", nil, 200, ""},
		{"GET", "/metrics", "", nil, 200, ""},
		{"GET", "/api/v1/openapi.yaml", "", nil, 200, ""},
		{"GET", "/api/v1/nothing", "", nil, 404, "plan.no_route"},
		{"PUT", "/api/v1/runs", "", nil, 405, "plan.method_not_allowed"},

		{"GET", "/api/v1/runs", "", nil, 200, ""},
		{"GET", "/api/v1/runs?state=done&limit=1", "", nil, 200, ""},
		{"GET", "/api/v1/runs?state=happy", "", nil, 400, "plan.bad_state"},
		{"GET", "/api/v1/runs?limit=0", "", nil, 400, "plan.bad_limit"},
		{"GET", "/api/v1/runs?limit=many", "", nil, 400, "plan.bad_limit"},
		{"GET", "/api/v1/runs?cursor=%21", "", nil, 400, "store.bad_cursor"},
		{"POST", "/api/v1/runs", samplePlan, nil, 201, ""},
		{"POST", "/api/v1/runs", samplePlan, []string{"Content-Type", "application/yaml; charset=utf-8"}, 201, ""},
		{"POST", "/api/v1/runs", samplePlan, []string{"Content-Type", "image/png"}, 415, "plan.media_type"},
		{"POST", "/api/v1/runs", string(ended.Plan), []string{"Content-Type", "application/json"}, 201, ""},
		{"POST", "/api/v1/runs", big, nil, 413, "plan.too_large"},
		{"POST", "/api/v1/runs", samplePlan, []string{"Idempotency-Key", strings.Repeat("k", 256)}, 400, "plan.bad_key"},

		{"GET", "/api/v1/runs/" + ended.ID, "", nil, 200, ""},
		{"GET", "/api/v1/runs/none", "", nil, 404, "store.no_run"},
		{"GET", "/api/v1/runs/..", "", nil, 404, "store.no_run"},
		{"GET", "/api/v1/runs/" + ended.ID + "/result", "", nil, 200, ""},
		{"GET", "/api/v1/runs/" + waiting.ID + "/result", "", nil, 404, "plan.no_result"},
		{"GET", "/api/v1/runs/none/result", "", nil, 404, "store.no_run"},
		{"GET", "/api/v1/runs/" + ended.ID + "/report", "", nil, 200, ""},
		{"GET", "/api/v1/runs/" + ended.ID + "/report?format=csv", "", nil, 200, ""},
		{"GET", "/api/v1/runs/" + ended.ID + "/report?format=pdf", "", nil, 400, "plan.unknown_format"},
		{"GET", "/api/v1/runs/" + ended.ID + "/report?format=llm-inference-bench", "", nil, 400, "plan.no_matrix"},
		{"GET", "/api/v1/runs/" + waiting.ID + "/report", "", nil, 404, "plan.no_result"},
		{"GET", "/api/v1/runs/" + ended.ID + "/archive", "", nil, 200, ""},
		{"GET", "/api/v1/runs/" + waiting.ID + "/archive", "", nil, 409, "plan.run_active"},
		{"GET", "/api/v1/runs/" + ended.ID + "/logs", "", nil, 200, ""},
		{"GET", "/api/v1/runs/" + ended.ID + "/logs?name=absent.log", "", nil, 404, "plan.no_log"},
		{"GET", "/api/v1/runs/" + ended.ID + "/logs?tail=-1", "", nil, 400, "plan.bad_tail"},
		{"GET", "/api/v1/runs/" + ended.ID + "/files/points/c1.rec", "", nil, 200, ""},
		{"GET", "/api/v1/runs/" + ended.ID + "/files/", "", nil, 404, "plan.no_file"},
		{"GET", "/api/v1/runs/" + ended.ID + "/events", "", []string{"Last-Event-ID", "x"}, 400, "plan.bad_event_id"},
		{"GET", "/api/v1/runs/none/events", "", nil, 404, "store.no_run"},
		{"POST", "/api/v1/runs/none/cancel", "", nil, 404, "store.no_run"},
		{"DELETE", "/api/v1/runs/" + waiting.ID, "", nil, 409, "plan.run_active"},
		{"POST", "/api/v1/runs/" + waiting.ID + "/cancel", "", nil, 202, ""},
		{"POST", "/api/v1/runs/" + waiting.ID + "/cancel", "", nil, 202, ""}, // again changes nothing
		{"DELETE", "/api/v1/runs/" + waiting.ID, "", nil, 204, ""},
		{"DELETE", "/api/v1/runs/" + waiting.ID, "", nil, 404, "store.no_run"},

		{"GET", "/api/v1/sut", "", nil, 200, ""},
		{"POST", "/api/v1/sut/probe", "", nil, 200, ""},
		{"GET", "/api/v1/checks", "", nil, 200, ""},

		{"GET", "/api/v1/schedules", "", nil, 200, ""},
		{"GET", "/api/v1/schedules/s1", "", nil, 200, ""},
		{"GET", "/api/v1/schedules/none", "", nil, 404, "store.no_schedule"},
		{"POST", "/api/v1/schedules", "{", nil, 400, "plan.bad_json"},
		{"POST", "/api/v1/schedules", `{"cron":"x"} {}`, nil, 400, "plan.bad_json"},
		{"POST", "/api/v1/schedules", `{"chron":"x"}`, nil, 400, "plan.bad_json"},
		{"POST", "/api/v1/schedules", `{"cron":"0 3 * * *"}`, nil, 400, "plan.incomplete"},
		{"POST", "/api/v1/schedules/s1/run", "", nil, 201, ""},
		{"POST", "/api/v1/schedules/none/run", "", nil, 404, "store.no_schedule"},
		{"PATCH", "/api/v1/schedules/none", `{"enabled":false}`, nil, 404, "store.no_schedule"},
		{"DELETE", "/api/v1/schedules/s1", "", nil, 204, ""},
		{"DELETE", "/api/v1/schedules/s1", "", nil, 404, "store.no_schedule"},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			got := f.do(tt.method, tt.path, tt.body, tt.headers...)
			if got.status != tt.status {
				t.Fatalf("status %d, want %d: %s", got.status, tt.status, got.body)
			}
			if tt.code == "" {
				return
			}
			if p := got.problem(t); p.Code != tt.code {
				t.Errorf("code %s, want %s", p.Code, tt.code)
			}
		})
	}
}

func TestBadPlanIsShownWhole(t *testing.T) {
	f := newFixture(t)
	got := f.do("POST", "/api/v1/runs", strings.Replace(samplePlan, "protocol:", "protocl:", 1))
	p := got.problem(t)
	if got.status != http.StatusBadRequest || p.Layer != "plan" || p.Hint == "" || !strings.Contains(p.Text, "protocl") {
		t.Errorf("want a problem of the plan that names the key and what to do, got %d %s", got.status, got.body)
	}
}

func TestSubmitIsIdempotent(t *testing.T) {
	f := newFixture(t)
	key := []string{"Idempotency-Key", "4b1d"}
	first := f.do("POST", "/api/v1/runs", samplePlan, key...)
	again := f.do("POST", "/api/v1/runs", samplePlan, key...)
	if first.status != http.StatusCreated || again.status != http.StatusOK {
		t.Fatalf("statuses %d, %d, want 201, 200", first.status, again.status)
	}
	a, b := decode[RunItem](t, first.body), decode[RunItem](t, again.body)
	if a.ID != b.ID {
		t.Errorf("the same key made two runs: %s, %s", a.ID, b.ID)
	}
	if want := "/api/v1/runs/" + a.ID; first.header.Get("Location") != want || again.header.Get("Location") != want {
		t.Errorf("Location %q and %q, want %q", first.header.Get("Location"), again.header.Get("Location"), want)
	}
	other := f.do("POST", "/api/v1/runs", strings.Replace(samplePlan, "name: sample", "name: other", 1), key...)
	if other.status != http.StatusConflict {
		t.Errorf("the key with another plan: status %d, want 409", other.status)
	}
}

func TestRunsPage(t *testing.T) {
	f := newFixture(t)
	var want []string
	for range 5 {
		want = append([]string{f.queueRun().ID}, want...)
	}
	var got []string
	for cursor, pages := "", 0; ; pages++ {
		a := f.do("GET", "/api/v1/runs?limit=2&cursor="+cursor, "")
		p := decode[Page[RunItem]](t, a.body)
		for _, r := range p.Items {
			got = append(got, r.ID)
		}
		if p.Next == nil {
			if pages != 2 {
				t.Errorf("%d pages, want 3", pages+1)
			}
			break
		}
		cursor = *p.Next
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("runs over the pages (-want +got):\n%s", diff)
	}
	empty := newFixture(t).do("GET", "/api/v1/runs", "")
	if string(empty.body) != `{"items":[],"next":null}`+"\n" {
		t.Errorf("an empty list is %s", empty.body)
	}
}

func TestRunDetail(t *testing.T) {
	f := newFixture(t)
	run := f.endedRun()
	got := decode[RunDetail](t, f.do("GET", "/api/v1/runs/"+run.ID, "").body)
	if got.State != result.Done || got.Verdict != result.Valid || got.PointsDone != 2 || got.BestSystemTPS == nil || *got.BestSystemTPS != 180.5 || got.BestPoint != "c2" {
		t.Errorf("unexpected run: %+v", got.RunItem)
	}
	if len(got.Completed) != 2 || *got.Completed[1].Metrics.SystemTPS != 180.5 {
		t.Errorf("unexpected points: %+v", got.Completed)
	}
	waiting := f.queueRun()
	raw := f.do("GET", "/api/v1/runs/"+waiting.ID, "").body
	for _, list := range []string{`"phases":[]`, `"completed":[]`, `"reasons":[]`} {
		if !strings.Contains(string(raw), list) {
			t.Errorf("an empty list must not be null: want %s in %s", list, raw)
		}
	}
}

func TestResultIsTheStoredBytes(t *testing.T) {
	f := newFixture(t)
	run := f.endedRun()
	stored, err := f.Store.ResultBytes(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/result", "/report?format=json", "/files/" + result.FileName} {
		a := f.do("GET", "/api/v1/runs/"+run.ID+path, "")
		if string(a.body) != string(stored) {
			t.Errorf("%s is not the stored document", path)
		}
	}
}

func TestSchedules(t *testing.T) {
	f := newFixture(t)
	body, err := json.Marshal(map[string]any{"cron": "0 3 * * *", "plan": samplePlan})
	if err != nil {
		t.Fatal(err)
	}
	created := f.do("POST", "/api/v1/schedules", string(body))
	one := decode[Schedule](t, created.body)
	if created.status != http.StatusCreated || one.Name != "sample" || !one.Enabled || one.CreatedUS == 0 {
		t.Fatalf("created: %d %+v", created.status, one)
	}
	if got := created.header.Get("Location"); got != "/api/v1/schedules/"+one.ID {
		t.Errorf("Location %q", got)
	}

	changed := decode[Schedule](t, f.do("PATCH", "/api/v1/schedules/"+one.ID, `{"enabled":false,"name":"paused"}`).body)
	want := one
	want.Enabled, want.Name = false, "paused"
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Errorf("after the change (-want +got):\n%s", diff)
	}

	run := decode[RunItem](t, f.do("POST", "/api/v1/schedules/"+one.ID+"/run", "").body)
	after := decode[Schedule](t, f.do("GET", "/api/v1/schedules/"+one.ID, "").body)
	if after.LastRun != run.ID || after.LastUS == 0 {
		t.Errorf("the schedule does not name its run: %+v", after)
	}
}

func TestRefusedScheduleIsTakenBack(t *testing.T) {
	f := newFixture(t)
	add := func(cron string) answer {
		return f.do("POST", "/api/v1/schedules", fmt.Sprintf(`{"cron":%q,"plan":%q}`, cron, samplePlan))
	}
	if p := add("never ever").problem(t); p.Status != http.StatusBadRequest || p.Code != "plan.bad_cron" {
		t.Errorf("a cron the daemon refuses: %+v", p)
	}
	if all := decode[Page[Schedule]](t, f.do("GET", "/api/v1/schedules", "").body); len(all.Items) != 0 {
		t.Errorf("the refused schedule stayed: %+v", all.Items)
	}
	good := decode[Schedule](t, add("@every 6h").body)
	f.do("PATCH", "/api/v1/schedules/"+good.ID, `{"cron":"never"}`).problem(t)
	if now := decode[Schedule](t, f.do("GET", "/api/v1/schedules/"+good.ID, "").body); now.Cron != "@every 6h" {
		t.Errorf("the refused change stayed: %+v", now)
	}
}
