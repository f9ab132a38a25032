package api

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"assay/api/wording"
	"assay/report"
	"assay/result"
)

//go:embed web openapi.yaml
var files embed.FS

// assets are the files the server hands out, by name. The page has the report's stylesheet and no other.
func assets() map[string]asset {
	return map[string]asset{
		"openapi.yaml": newAsset(embedded("openapi.yaml"), "application/yaml"),
		"app.js":       newAsset(embedded("web/app.js"), "text/javascript; charset=utf-8"),
		"favicon.svg":  newAsset(embedded("web/favicon.svg"), "image/svg+xml"),
		"style.css":    newAsset([]byte(report.Stylesheet()), "text/css; charset=utf-8"),
	}
}

// embedded reads a file that the build put in; that it is there is checked by every test that makes a server.
func embedded(name string) []byte {
	b, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return b
}

func parsePages() *template.Template {
	return template.Must(template.New("").Funcs(wording.Funcs()).Funcs(template.FuncMap{"status": statusOf}).ParseFS(files, "web/*.html"))
}

// page is what every template gets; Main is the page's own data.
type page struct {
	Title   string
	Section string // which entry of the navigation is current
	Version string
	Refresh bool // reload by itself where there is no script
	Problem *Problem
	Node    *result.Node // why the machine takes no runs; nil when it does
	Main    any
}

// render answers with a page. It is rendered whole first, so that a template's error is not half a page.
func (s *Server) render(c echo.Context, status int, name string, p page) error {
	p.Version, p.Node = s.Program.Version, s.nodeNow(c.Request().Context())
	var out bytes.Buffer
	if err := s.pages.ExecuteTemplate(&out, name, p); err != nil {
		return fmt.Errorf("render page %s: %w", name, err)
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.HTMLBlob(status, out.Bytes())
}

// wantsPage tells whether an error should be shown as a page: to a browser, outside the API.
func wantsPage(r *http.Request) bool {
	return !strings.HasPrefix(r.URL.Path, "/api/") && strings.Contains(r.Header.Get(echo.HeaderAccept), "text/html")
}

func (s *Server) answerErrorPage(c echo.Context, p Problem) {
	if err := s.render(c, p.Status, "error.html", page{Title: p.Title, Problem: &p}); err != nil {
		writeProblem(c, p)
	}
}

// seeOther sends the browser on after a form was done, so that reloading does not repeat it.
func seeOther(c echo.Context, path string) error { return c.Redirect(http.StatusSeeOther, path) }

// readForm bounds and parses a form.
func readForm(c echo.Context) error {
	defer boundBody(c)()
	if err := c.Request().ParseForm(); err != nil {
		return fmt.Errorf("read form: %w", err)
	}
	return nil
}
