package api

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/fault"
	"assay/plan"
	"assay/probes"
	"assay/report"
	"assay/result"
	"assay/store"
)

// form posts a form as a browser does.
func (f *fixture) form(path string, values url.Values) answer {
	f.t.Helper()
	return f.do("POST", path, values.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin", "Accept", "text/html")
}

// contains checks that a page holds every text.
func contains(t *testing.T, a answer, texts ...string) {
	t.Helper()
	if a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
		t.Fatalf("no page: %d %s", a.status, a.body)
	}
	for _, text := range texts {
		if !strings.Contains(string(a.body), text) {
			t.Errorf("the page misses %q:\n%s", text, a.body)
		}
	}
}

func TestRunsPageSaysWhatToDoWhenEmpty(t *testing.T) {
	contains(t, newFixture(t).do("GET", "/", ""), "No run yet", "assay demo", "assay bench", "Queue this plan")
}

func TestRunsPageListsRuns(t *testing.T) {
	f := newFixture(t)
	run := f.endedRun()
	f.queueRun()
	contains(t, f.do("GET", "/", ""), `href="/runs/`+run.ID+`"`, `badge valid`, `badge queued`, "2 / 2", "0 / 2", "180.5", "c2")
	if only := f.do("GET", "/?state=queued", ""); strings.Contains(string(only.body), run.ID) || !strings.Contains(string(only.body), "badge queued") {
		t.Errorf("the list of waiting runs: %s", only.body)
	}
	contains(t, f.do("GET", "/?state=failed", ""), "No run is failed")
	if bad := f.do("GET", "/?state=happy", "", "Accept", "text/html"); bad.status != http.StatusBadRequest {
		t.Errorf("a state that is none: %d", bad.status)
	}
}

func TestRunPageWhileItRuns(t *testing.T) {
	f := newFixture(t)
	run := f.queueRun()
	f.move(run.ID, result.Running)
	f.putPoint(run.ID, 0, 1, 91.25)
	f.write(run.ID, "server.log", "ready <b>now</b>\n")
	if err := f.Store.PutPhase(t.Context(), run.ID, result.Phase{Name: "measure", Point: "c2", StartedUS: 1}); err != nil {
		t.Fatal(err)
	}
	a := f.do("GET", "/runs/"+run.ID, "")
	contains(t, a, `data-events="/api/v1/runs/`+run.ID+`/events"`, "measure · c2", "1 / 2", "91.2", "41.5", `http-equiv="refresh"`,
		`action="/runs/`+run.ID+`/cancel"`, "ready &lt;b&gt;now&lt;/b&gt;", "concurrency")
	if strings.Contains(string(a.body), "<iframe") {
		t.Error("a report of a run that has none")
	}
}

func TestRunPageAfterItEnded(t *testing.T) {
	f := newFixture(t)
	run := f.endedRun()
	a := f.do("GET", "/runs/"+run.ID, "")
	contains(t, a, "badge big valid", `<iframe`, `/report?format=html`, `/report?format=csv`, `/archive`, `action="/runs/`+run.ID+`/delete"`, "concurrency")
	for _, gone := range []string{"data-events", `http-equiv="refresh"`, "/cancel"} {
		if strings.Contains(string(a.body), gone) {
			t.Errorf("an ended run still has %s", gone)
		}
	}
	for _, f := range report.Formats() {
		if strings.Contains(string(a.body), "format="+f.Name+`"`) == f.Matrix { // the run is a sweep
			t.Errorf("format %s: a link where there should be none, or none", f.Name)
		}
	}
}

func TestPagesRunNoInlineCode(t *testing.T) {
	f := newFixture(t)
	run := f.endedRun()
	f.queueRun()
	for _, path := range []string{"/", "/runs/" + run.ID, "/schedules", "/machine", "/nothing"} {
		body := string(f.do("GET", path, "", "Accept", "text/html").body)
		for _, bad := range []string{" style=", "<style", "onclick=", "onload=", "javascript:", "<script>"} {
			if strings.Contains(body, bad) {
				t.Errorf("%s holds %q, which the policy forbids", path, bad)
			}
		}
	}
}

func TestRunForms(t *testing.T) {
	f := newFixture(t)
	queued := f.form("/runs", url.Values{"plan": {samplePlan}})
	path := queued.header.Get("Location")
	if queued.status != http.StatusSeeOther || !strings.HasPrefix(path, "/runs/") {
		t.Fatalf("queue: %d to %q: %s", queued.status, path, queued.body)
	}
	if a := f.form(path+"/delete", nil); a.status != http.StatusConflict || !strings.Contains(string(a.body), "Cancel it first") {
		t.Errorf("delete a waiting run: %d %s", a.status, a.body)
	}
	if a := f.form(path+"/cancel", nil); a.status != http.StatusSeeOther || a.header.Get("Location") != path {
		t.Errorf("cancel: %d to %q", a.status, a.header.Get("Location"))
	}
	if a := f.form(path+"/delete", nil); a.status != http.StatusSeeOther || a.header.Get("Location") != "/" {
		t.Errorf("delete: %d to %q", a.status, a.header.Get("Location"))
	}
	if a := f.do("GET", path, "", "Accept", "text/html"); a.status != http.StatusNotFound || !strings.Contains(string(a.body), "store.no_run") {
		t.Errorf("the deleted run: %d %s", a.status, a.body)
	}
}

func TestRefusedPlanKeepsWhatWasTyped(t *testing.T) {
	f := newFixture(t)
	a := f.form("/runs", url.Values{"plan": {"nonsense: <1>"}})
	if a.status != http.StatusBadRequest || !strings.Contains(string(a.body), "nonsense: &lt;1&gt;") || !strings.Contains(string(a.body), `role="alert"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := f.form("/runs", url.Values{"plan": {strings.Repeat("x", maxBody+1)}}); a.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a form that is too large: %d", a.status)
	}
}

func TestScheduleForms(t *testing.T) {
	f := newFixture(t)
	contains(t, f.do("GET", "/schedules", ""), "No schedule yet", "assay schedule add")
	if a := f.form("/schedules", url.Values{"cron": {"never"}, "plan": {samplePlan}, "name": {"x"}}); a.status != http.StatusBadRequest || !strings.Contains(string(a.body), "never") {
		t.Errorf("a bad cron: %d", a.status)
	}
	if a := f.form("/schedules", url.Values{"cron": {"0 3 * * *"}, "plan": {samplePlan}, "name": {""}}); a.status != http.StatusSeeOther {
		t.Fatalf("add: %d %s", a.status, a.body)
	}
	all, err := f.Store.Schedules(t.Context())
	if err != nil || len(all) != 1 || all[0].Name != "sample" {
		t.Fatalf("schedules: %+v, %v", all, err)
	}
	path := "/schedules/" + all[0].ID
	f.form(path+"/enabled", url.Values{"enabled": {"false"}})
	contains(t, f.do("GET", "/schedules", ""), "paused", "Resume")
	f.form(path+"/enabled", url.Values{"enabled": {"true"}})
	contains(t, f.do("GET", "/schedules", ""), "Pause")
	if a := f.form(path+"/run", nil); !strings.HasPrefix(a.header.Get("Location"), "/runs/") {
		t.Errorf("run now: %d to %q", a.status, a.header.Get("Location"))
	}
	contains(t, f.do("GET", "/schedules", ""), `<a href="/runs/`)
	f.form(path+"/delete", nil)
	contains(t, f.do("GET", "/schedules", ""), "No schedule yet")
}

// sampleSUT is a machine with each kind of fact and list.
func sampleSUT() probes.SUT {
	var s probes.SUT
	s.System.Vendor = probes.Known("Supermicro", "sys/class/dmi/id/sys_vendor")
	s.System.BMC = probes.NA[string]("no BMC")
	s.System.BIOS.Version = probes.Known("1.4a", "sys/class/dmi/id/bios_version")
	s.CPU.SMT = probes.Known(false, "sys/devices/system/cpu/smt/active")
	s.Memory.Bytes = probes.Known(int64(755)<<30, "proc/meminfo")
	s.Accelerators.Items = []probes.Accelerator{{
		Name: probes.Known("AMD Instinct MI300X", "sysfs"), PowerCapW: probes.Known(750.0, "hwmon"), PCI: probes.PCI{Address: probes.Known("0000:1b:00.0", "sysfs")},
	}}
	s.Interconnect.Links.Unknown = "no permission"
	s.OS.Distro = probes.Known("Debian 12", "etc/os-release")
	s.Storage.Filesystems.Items = []probes.Filesystem{{Mount: probes.Known("/", "proc/mounts"), Stack: probes.Known([]string{"xfs", "nvme"}, "sys/block")}}
	return s
}

func TestMachinePage(t *testing.T) {
	f := newFixture(t)
	f.ctl.sut = sampleSUT()
	contains(t, f.do("GET", "/machine", ""), "Supermicro", "sys/class/dmi/id/sys_vendor", "no BMC", "AMD Instinct MI300X", "no permission",
		"no other process uses an accelerator", "badge ok", "1 ok")
	f.do("GET", "/machine", "")
	f.do("GET", "/api/v1/sut", "")
	if f.ctl.probe != 1 {
		t.Errorf("looking at the page probed %d times", f.ctl.probe)
	}
	if a := f.form("/machine/probe", nil); a.status != http.StatusSeeOther || f.ctl.probe != 2 {
		t.Errorf("probe again: %d, %d probes", a.status, f.ctl.probe)
	}
}

func TestOldPlansStayReadable(t *testing.T) {
	if got := planText([]byte(`{"apiVersion":"assay/v0"}`)); got != `{"apiVersion":"assay/v0"}` {
		t.Errorf("a plan this program cannot read shows as %q", got)
	}
	p, err := plan.Parse([]byte(samplePlan))
	if err != nil {
		t.Fatal(err)
	}
	back, err := plan.Parse([]byte(planText(p.Canonical())))
	if err != nil || back.Hash() != p.Hash() {
		t.Errorf("the shown plan is not the plan: %v", err)
	}
}

func TestExampleInTheFormIsAPlan(t *testing.T) {
	if _, err := plan.Parse([]byte(examplePlan())); err != nil {
		t.Errorf("the form offers a plan that is refused: %v", err)
	}
}

func TestAssetsAreValidated(t *testing.T) {
	f := newFixture(t)
	a := f.do("GET", "/style.css", "")
	if string(a.body) != report.Stylesheet() {
		t.Error("the page's stylesheet is not the report's")
	}
	if again := f.do("GET", "/style.css", "", "If-None-Match", a.header.Get("ETag")); again.status != http.StatusNotModified || len(again.body) != 0 {
		t.Errorf("a good copy is sent again: %d", again.status)
	}
}

func TestStatusOfARun(t *testing.T) {
	for want, r := range map[string]RunItem{
		"valid": {State: result.Done, Verdict: result.Valid}, "not_valid": {State: result.Done, Verdict: result.NotValid},
		"failed": {State: result.Failed, Verdict: result.NotValid}, "running": {State: result.Running},
	} {
		if diff := cmp.Diff(want, statusOf(r)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestEndedRunShowsItsError(t *testing.T) {
	f := newFixture(t)
	run := f.queueRun()
	f.move(run.ID, result.Running)
	change := store.RunChange{AtUS: f.ctl.now().UnixMicro(), Verdict: result.NotValid, Reasons: []result.Reason{{Code: "x", Text: "too few points", Evidence: "1 of 2"}}}
	change.Error = fault.New(fault.Server, "exited", "turn it off and on", "the server is gone")
	if err := f.Store.MoveRun(t.Context(), run.ID, result.Failed, change); err != nil {
		t.Fatal(err)
	}
	contains(t, f.do("GET", "/runs/"+run.ID, ""), "the server is gone", "turn it off and on", "too few points", "1 of 2", "badge big failed", "No point was measured")
}
