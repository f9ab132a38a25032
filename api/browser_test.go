package api

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"assay/result"
	"assay/store"
)

// browser starts a headless Chromium, or skips where there is none. Under CI a missing browser is a failure.
func browser(t *testing.T) context.Context {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(3*time.Minute))
		ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
		t.Cleanup(cancel)
		ctx, cancel = context.WithTimeout(ctx, 10*time.Minute)
		t.Cleanup(cancel)
		ctx, cancel = chromedp.NewContext(ctx)
		t.Cleanup(cancel)
		watch(t, ctx)
		return ctx
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("no chromium in PATH")
	}
	t.Skip("no chromium in PATH: the page is not looked at in a browser")
	return nil
}

// watch fails the test on anything the page complains about: the console, an exception, a blocked or failed request.
func watch(t *testing.T, ctx context.Context) {
	t.Helper()
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventConsoleAPICalled:
			t.Errorf("the page wrote to the console: %s %v", e.Type, e.Args)
		case *runtime.EventExceptionThrown:
			t.Errorf("the page threw: %s", e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			t.Errorf("the browser complains: %s %s", e.Entry.Text, e.Entry.URL)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

// steps runs actions in the tab.
func steps(t *testing.T, ctx context.Context, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// until waits for an expression to hold in the page.
func until(t *testing.T, ctx context.Context, js string) {
	t.Helper()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](js, chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(3*time.Minute))); err != nil {
		body, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText"))
		t.Fatalf("wait for %s: %v\n%s", js, err, body)
	}
}

// text is the expression whether an element holds a text.
func text(id, want string) string {
	return fmt.Sprintf("(document.querySelector(%q) || {textContent: ''}).textContent.includes(%q)", id, want)
}

// screenshots keeps pictures of the page in light, dark and narrow, and checks that it never scrolls sideways.
func screenshots(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	dir := filepath.Join("..", ".test-output")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, look := range []struct {
		name, scheme string
		width        int64
		scale        float64
	}{{"light", "light", 1280, 1}, {"dark", "dark", 1280, 1}, {"narrow", "dark", 390, 2}} {
		steps(t, ctx, scheme(look.scheme), chromedp.EmulateViewport(look.width, 900, chromedp.EmulateScale(look.scale)))
		wide, err := chromedp.Run(ctx, chromedp.Evaluate[int64]("document.documentElement.scrollWidth"))
		if err != nil {
			t.Fatal(err)
		}
		if wide > look.width {
			t.Errorf("%s is %d px wide in a window of %d", name, wide, look.width)
		}
		png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "page-"+name+"-"+look.name+".png"), png, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	steps(t, ctx, scheme("light"), chromedp.EmulateViewport(1280, 900))
}

func scheme(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
		})
		return err
	})
}

// visit opens a page and waits until it listens: what is published before that is heard by the page before it, if that is still there.
func (f *fixture) visit(ctx context.Context, path string) {
	f.t.Helper()
	_, before := f.ctl.subscribers()
	steps(f.t, ctx, chromedp.Navigate(f.http.URL+path))
	f.awaitSubscribers("stream of "+path, func(_, ever int) bool { return ever > before })
}

// TestPageFollowsARun is what a person sees: an empty list, a run that appears, its progress, its points, its end and its report.
func TestPageFollowsARun(t *testing.T) {
	ctx := browser(t)
	f := newFixture(t)
	f.ctl.sut = sampleSUT()
	f.visit(ctx, "/")
	until(t, ctx, text(".empty", "assay demo"))
	screenshots(t, ctx, "empty")

	run := f.queueRun() // the list shows it by itself
	until(t, ctx, text("table.list", run.ID))

	f.visit(ctx, "/runs/"+run.ID)
	until(t, ctx, text("#step", "waiting for its turn"))
	f.live(run.ID)
	until(t, ctx, text("#tps", "93.4"))
	until(t, ctx, text("#ttft", "41.2")+" && "+text("#inflight", "2")+" && "+text("#failed", "0"))
	until(t, ctx, text("#stage", "measure: 12 of 30 s")+" && "+text("#step", "measure · c2"))
	until(t, ctx, "document.querySelector('#bar > i').style.width === '40%' && document.getElementById('bar').getAttribute('aria-valuenow') === '40'")
	until(t, ctx, text("#log", "INFO: ready"))
	until(t, ctx, text("table.data", "c1")+" && "+text("table.data", "91.2"))
	until(t, ctx, text("[data-live=badge]", "running")+" && "+text("#points", "1 / 2"))
	screenshots(t, ctx, "running")

	f.finish(run.ID)
	steps(t, ctx, chromedp.WaitVisible(chromedp.CSS("#report"))) // the page loads itself again
	until(t, ctx, text(".badge.big", "valid"))
	const inner = "document.getElementById('report').contentDocument" // without parts while it loads
	until(t, ctx, inner+"?.body?.innerText.length > 200")
	until(t, ctx, "document.getElementById('report').offsetHeight >= "+inner+"?.documentElement?.scrollHeight")
	screenshots(t, ctx, "ended")
	for name, path := range map[string]string{"runs": "/", "machine": "/machine", "schedules": "/schedules"} {
		f.fill(name)
		steps(t, ctx, chromedp.Navigate(f.http.URL+path))
		screenshots(t, ctx, name)
	}
	f.visit(ctx, "/")
	f.dirty()
	f.ctl.publish(result.Event{Run: run.ID, Kind: result.NodeMarked, Text: "GPU 0 holds 120.0 GiB"})
	until(t, ctx, text("#node", "takes no runs")) // the page says it by itself
	screenshots(t, ctx, "dirty")
}

// live tells what a daemon tells in the middle of a run.
func (f *fixture) live(run string) {
	f.t.Helper()
	f.move(run, result.Running)
	f.ctl.publish(result.Event{Run: run, Kind: result.RunStarted, State: result.Running})
	for i, name := range []string{"preflight", "start", "ready"} {
		from := 1796079685_000000 + int64(i)*2_000000
		f.putPhase(run, result.Phase{Name: name, StartedUS: from, EndedUS: from + 1_250000})
		f.ctl.publish(result.Event{Run: run, Kind: result.PhaseEnded, Phase: name})
	}
	for i := range 12 {
		f.ctl.publish(result.Event{Run: run, Kind: result.Logged, Text: fmt.Sprintf("INFO: loading shard %d of 12", i+1)})
	}
	f.ctl.publish(result.Event{Run: run, Kind: result.Logged, Text: "INFO: ready"})
	p := f.putPoint(run, 0, 1, 91.25)
	f.putPhase(run, result.Phase{Name: "measure", Point: "c1", StartedUS: 1796079692_000000, EndedUS: 1796079722_000000})
	f.ctl.publish(result.Event{Run: run, Kind: result.PointEnded, Point: "c1", Result: &p})
	f.putPhase(run, result.Phase{Name: "measure", Point: "c2", StartedUS: 1796079723_000000})
	f.ctl.publish(result.Event{Run: run, Kind: result.PhaseStarted, Phase: "measure", Point: "c2"})
	f.ctl.publish(result.Event{Run: run, Kind: result.Progressed, Phase: "measure", Point: "c2", Progress: &result.Progress{
		Stage: "measure", Done: 12, Total: 30, Unit: "s", InFlight: 2, TPS: 93.4, TTFTMS: 41.2,
	}})
}

func (f *fixture) putPhase(run string, p result.Phase) {
	f.t.Helper()
	if err := f.Store.PutPhase(f.t.Context(), run, p); err != nil {
		f.t.Fatal(err)
	}
}

// finish ends the run as the daemon does: its result is there before the event.
func (f *fixture) finish(run string) {
	f.t.Helper()
	f.putPoint(run, 1, 2, 180.5)
	f.complete(run)
	f.ctl.publish(result.Event{Run: run, Kind: result.RunEnded, State: result.Done, Verdict: result.Valid})
}

// fill adds what makes a page worth a picture.
func (f *fixture) fill(page string) {
	f.t.Helper()
	switch page {
	case "runs":
		f.endedRun()
		f.move(f.queueRun().ID, result.Running)
		f.queueRun()
		f.move(f.queueRun().ID, result.Canceled)
	case "schedules":
		for i, cron := range []string{"0 3 * * *", "@every 6h"} {
			one := store.Schedule{ID: fmt.Sprintf("s%d", i), Name: strings.Repeat("nightly-", i+1) + "llama", Cron: cron, Plan: []byte("{}"), Enabled: i == 0, CreatedUS: 1}
			if err := f.Store.CreateSchedule(f.t.Context(), one); err != nil {
				f.t.Fatal(err)
			}
		}
	}
}
