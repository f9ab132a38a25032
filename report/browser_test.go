package report

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"assay/report/figure"
	"assay/report/table"
)

// browser starts a headless Chromium, or skips where there is none. Under CI a missing browser is a failure.
func browser(t *testing.T) context.Context {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("no chromium in PATH")
		}
		t.Skip("no chromium in PATH: the report is not looked at in a browser")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(3*time.Minute))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 10*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

// shown opens the HTML report of an input and fails on anything the page complains about.
func shown(t *testing.T, ctx context.Context, in Input) context.Context {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, write(t, htmlFormat(), in), 0o644); err != nil {
		t.Fatal(err)
	}
	tab, cancel := chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	err := chromedp.Listen(tab, func(event any) {
		switch e := event.(type) {
		case *runtime.EventConsoleAPICalled:
			t.Errorf("the page wrote to the console: %s %v", e.Type, e.Args)
		case *runtime.EventExceptionThrown:
			t.Errorf("the page threw: %s", e.ExceptionDetails.Text)
		case *cdpage.EventJavascriptDialogOpening:
			t.Errorf("the page opened a dialog: %s", e.Message)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(tab, chromedp.Navigate("file://"+file)); err != nil {
		t.Fatal(err)
	}
	return tab
}

// screenshot keeps a picture of the whole page for a person to look at.
func screenshot(t *testing.T, tab context.Context, name string) {
	t.Helper()
	dir := filepath.Join("..", ".test-output")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	png, err := chromedp.Run(tab, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "report-"+name+".png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
}

// drawn is what the page says a plot holds and what stands in it.
type drawn struct {
	Label  string
	N      string
	Points int
}

// look is a way to see the page. The width in print is what the margins leave of an A4 sheet.
type look struct {
	name, kind, scheme string
	width              int64
	scale              float64
}

func looks() []look {
	return []look{{"light", "screen", "light", 1280, 1}, {"dark", "screen", "dark", 1280, 1}, {"narrow", "screen", "light", 390, 1}, {"print", "print", "dark", 703, 1}}
}

func (l look) media() chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Media: l.kind, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: l.scheme}},
		})
		return err
	})
}

// Every plot has its points, at every width, in light and dark and in print, and the body never scrolls sideways.
func TestInBrowser(t *testing.T) {
	ctx := browser(t)
	for _, in := range inputs(t) {
		t.Run(in.Name, func(t *testing.T) {
			tab := shown(t, ctx, in.Input)
			checkPlots(t, tab, in)
			for _, look := range looks() {
				if err := chromedp.Do(tab, look.media(), chromedp.EmulateViewport(look.width, 900, chromedp.EmulateScale(look.scale))); err != nil {
					t.Fatal(err)
				}
				checkWidth(t, tab, look, "0")
				checkWidth(t, tab, look, "0.06em") // as in a font that is wider than this machine's
				checkWidth(t, tab, look, "0")
				if look.kind == "print" {
					checkPaper(t, tab, in)
				}
				if in.Name == "sweep" || in.Name == "matrix" || look.name == "dark" {
					screenshot(t, tab, in.Name+"-"+look.name)
				}
			}
		})
	}
}

func checkPlots(t *testing.T, tab context.Context, in named) {
	t.Helper()
	js := `[...document.querySelectorAll("svg.plot")].map(s => ({Label: s.getAttribute("aria-label"), N: s.dataset.n, Points: s.querySelectorAll("g.mark").length}))
		.concat([...document.querySelectorAll("svg.panel")].map(s => ({Label: s.getAttribute("aria-label"), N: s.dataset.n,
			Points: [...s.querySelectorAll("polygon.area")].reduce((n, p) => n + p.points.length / 2, 0)})))`
	plots, err := chromedp.Run(tab, chromedp.Evaluate[[]drawn](js))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"sweep": 4 + 8, "tiny": 4, "serve": 4 + 8, "matrix": 4, "not_valid": 4 + 8, "hostile": 4 + 1, "many": 4 + 8}[in.Name]
	if len(plots) != want {
		t.Errorf("%d plots, want %d: %v", len(plots), want, plots)
	}
	for i, p := range plots {
		if p.N != figure.Plain(float64(p.Points)) || p.Points == 0 || p.Label == "" {
			t.Errorf("plot %q says %s points and has %d", p.Label, p.N, p.Points)
		}
		if in.Name == "sweep" && i < 4 && p.Points != 7 {
			t.Errorf("plot %q has %d points, want 7", p.Label, p.Points)
		}
	}
}

// checkWidth fails when the page is wider than its window: on a screen tables scroll inside their own box, on paper what is too wide makes
// the browser shrink the whole page. spacing is put between letters.
func checkWidth(t *testing.T, tab context.Context, l look, spacing string) {
	t.Helper()
	over, err := chromedp.Run(tab, chromedp.Evaluate[int](`document.body.style.letterSpacing = "`+spacing+`",
		document.documentElement.scrollWidth - document.documentElement.clientWidth`))
	if err != nil {
		t.Fatal(err)
	}
	if over > 0 {
		t.Errorf("%s, letter spacing %s: the page is %d px wider than its window", l.name, spacing, over)
	}
}

// checkPaper fails when a text is smaller than 7 pt, or when a point of the run data is not in a table that stands on paper.
func checkPaper(t *testing.T, tab context.Context, in named) {
	t.Helper()
	smallest, err := chromedp.Run(tab, chromedp.Evaluate[float64](`Math.min(...[...document.querySelectorAll("body *")]
		.filter(e => e.checkVisibility() && [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim()))
		.map(e => parseFloat(getComputedStyle(e).fontSize) * (e.ownerSVGElement ? e.ownerSVGElement.getScreenCTM().a : 1)))`))
	if err != nil {
		t.Fatal(err)
	}
	if pt := smallest * 72 / 96; pt < 6.99 {
		t.Errorf("the smallest text in print is %.2f pt", pt)
	}
	heads, err := chromedp.Run(tab, chromedp.Evaluate[[]int](`[...document.querySelectorAll("#points table.data")]
		.filter(e => e.checkVisibility() && e.tBodies[0].textContent.includes("Archive URI")).map(e => e.tHead.rows[0].cells.length - 1)`))
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, n := range heads {
		total += n
		if n > table.SheetColumns {
			t.Errorf("a table of %d columns in print", n)
		}
	}
	if total != len(in.Result.Points) {
		t.Errorf("%d of %d points stand in print: tables of %v", total, len(in.Result.Points), heads)
	}
}
