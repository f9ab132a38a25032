package api

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"assay/probes"
	"assay/result"
)

// document is the OpenAPI file as plain values; its anchors are resolved.
func document(t *testing.T) map[string]any {
	t.Helper()
	var doc map[string]any
	if err := yaml.Unmarshal(embedded("openapi.yaml"), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// at walks maps by keys.
func at(v any, keys ...string) any {
	for _, k := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}

// openapiPath is a path of echo in the form of OpenAPI.
func openapiPath(path string) string {
	path = regexp.MustCompile(`:(\w+)`).ReplaceAllString(path, "{$1}")
	return strings.ReplaceAll(path, "*", "{path}")
}

func TestOpenAPIListsEveryRoute(t *testing.T) {
	var want, got []string
	for _, r := range newFixture(t).apiRoutes() {
		want = append(want, r.method+" "+openapiPath(r.path))
	}
	for path, item := range at(document(t), "paths").(map[string]any) {
		for key := range item.(map[string]any) {
			if key != "parameters" {
				got = append(got, strings.ToUpper(key)+" "+path)
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes against openapi.yaml (-routes +document):\n%s", diff)
	}
}

// exampleTypes are what the examples of a path's answers must decode to, strictly.
func exampleTypes() map[string]func(*testing.T, []byte) any {
	return map[string]func(*testing.T, []byte) any{
		"GET /healthz":           strictly[Health],
		"GET /version":           strictly[probes.Program],
		"GET /api/v1/healthz":    strictly[Health],
		"GET /api/v1/version":    strictly[probes.Program],
		"GET /api/v1/runs":       strictly[Page[RunItem]],
		"POST /api/v1/runs":      strictly[RunItem],
		"GET /api/v1/runs/{id}":  strictly[RunDetail],
		"GET /api/v1/checks":     strictly[CheckList],
		"GET /api/v1/node":       strictly[result.Node],
		"GET /api/v1/schedules":  strictly[Page[Schedule]],
		"POST /api/v1/schedules": strictly[Schedule],

		"POST /api/v1/schedules/{id}/run": strictly[RunItem],
	}
}

func strictly[T any](t *testing.T, b []byte) any { return decode[T](t, b) }

func TestExamplesAreOfTheTypes(t *testing.T) {
	doc := document(t)
	types, seen := exampleTypes(), 0
	for path, item := range at(doc, "paths").(map[string]any) {
		for method, op := range item.(map[string]any) {
			responses, _ := at(op, "responses").(map[string]any)
			for status, response := range responses {
				example := at(response, "content", "application/json", "example")
				if example == nil {
					continue
				}
				seen++
				name := strings.ToUpper(method) + " " + path
				read := types[name]
				if read == nil {
					t.Errorf("%s %s has an example and no type in this test", name, status)
					continue
				}
				sameMembers(t, name, example, read)
			}
		}
	}
	if seen < len(types)-1 {
		t.Errorf("only %d examples were found", seen)
	}
	problem := at(doc, "components", "responses", "Problem", "content", "application/problem+json", "example")
	sameMembers(t, "Problem", problem, strictly[Problem])
}

// sameMembers checks that the example decodes strictly and encodes back to itself: neither side has a member the other lacks.
func sameMembers(t *testing.T, name string, example any, read func(*testing.T, []byte) any) {
	t.Helper()
	b, err := json.Marshal(example)
	if err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(read(t, b))
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(again, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: example against its type (-example +type):\n%s", name, diff)
	}
}

// TestReferencesResolve: every $ref names something that is there.
func TestReferencesResolve(t *testing.T) {
	doc := document(t)
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				if at(doc, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...) == nil {
					t.Errorf("%s names nothing", ref)
				}
			}
			for _, inner := range v {
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	walk(doc)
}

// TestAnswersHaveTheSchema compares the members of real answers with the schemas of the document.
func TestAnswersHaveTheSchema(t *testing.T) {
	f := newFixture(t)
	run := f.endedRun()
	body := f.do("POST", "/api/v1/schedules", fmt.Sprintf(`{"cron":"0 3 * * *","plan":%q}`, samplePlan)).body
	schemas := at(document(t), "components", "schemas")
	known := func(names ...string) map[string]any {
		all := map[string]any{}
		for _, name := range names {
			for _, properties := range []any{at(schemas, name, "properties"), partOf(at(schemas, name, "allOf"))} {
				m, _ := properties.(map[string]any)
				for k, v := range m {
					all[k] = v
				}
			}
		}
		return all
	}
	for name, tt := range map[string]struct {
		body   []byte
		schema map[string]any
	}{
		"RunDetail": {f.do("GET", "/api/v1/runs/"+run.ID, "").body, known("RunItem", "RunDetail")},
		"Schedule":  {body, known("Schedule")},
		"CheckList": {f.do("GET", "/api/v1/checks", "").body, known("CheckList")},
		"Problem":   {f.do("GET", "/api/v1/nothing", "").body, known("Problem")},
	} {
		for key := range decode[map[string]any](t, tt.body) {
			if tt.schema[key] == nil {
				t.Errorf("%s: the answer has %q, the document does not", name, key)
			}
		}
	}
}

// partOf is the properties of the inline part of an allOf.
func partOf(allOf any) any {
	list, _ := allOf.([]any)
	for _, part := range list {
		if p := at(part, "properties"); p != nil {
			return p
		}
	}
	return nil
}

// TestDocsNameRealRoutes: every path in the page for people is a route.
func TestDocsNameRealRoutes(t *testing.T) {
	text, err := os.ReadFile("../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	var routes []*regexp.Regexp
	for _, r := range newFixture(t).apiRoutes() {
		pattern := regexp.MustCompile(`\\\{path\\\}`).ReplaceAllString(regexp.QuoteMeta(openapiPath(r.path)), `.+`)
		pattern = regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(pattern, `[^/]+`)
		routes = append(routes, regexp.MustCompile("^"+pattern+"$"))
	}
	found := regexp.MustCompile(`/(?:api/v1|healthz|metrics|version)[\w/.{}$-]*`).FindAllString(string(text), -1)
	if len(found) < 15 {
		t.Errorf("only %d paths in docs/api.md", len(found))
	}
	for _, path := range found {
		path = strings.TrimRight(path, ".")
		if path == "/api/v1" {
			continue
		}
		if !slices.ContainsFunc(routes, func(r *regexp.Regexp) bool { return r.MatchString(path) }) {
			t.Errorf("docs/api.md names %s, which is no route", path)
		}
	}
}

// TestPageNamesRealRoutes: every path in the page's files is a route.
func TestPageNamesRealRoutes(t *testing.T) {
	var routes []string
	s := newFixture(t)
	for _, r := range append(s.apiRoutes(), s.pageRoutes()...) {
		routes = append(routes, r.method+" "+openapiPath(r.path))
	}
	entries, err := files.ReadDir("web")
	if err != nil {
		t.Fatal(err)
	}
	action := regexp.MustCompile(`(action|href|src|data-events)="(/[^"?]*)`)
	for _, e := range entries {
		for _, m := range action.FindAllStringSubmatch(string(embedded("web/"+e.Name())), -1) {
			method := "GET "
			if m[1] == "action" {
				method = "POST "
			}
			path := regexp.MustCompile(`\{\{[^}]*\}\}`).ReplaceAllString(m[2], "{id}")
			if !slices.Contains(routes, method+path) {
				t.Errorf("web/%s names %s%s, which is no route", e.Name(), method, path)
			}
		}
	}
}
