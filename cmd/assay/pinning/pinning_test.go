package pinning

import (
	"context"
	"errors"
	"strings"
	"testing"

	"assay/containers/imagetest"
	"assay/fault"
	"assay/plan"
)

const document = `
apiVersion: assay/v1
name: pins
model: {name: m}
server: {engine: vllm, runtime: docker, image: IMAGE, base_image: IMAGE}
client: {kind: vllm-bench, image: IMAGE}
routers: [{points: all, kind: nginx, image: IMAGE}]
protocol: {sweep: {concurrency: 1, requests: 1}}
`

func parse(t *testing.T, image string, sets ...string) (plan.Plan, error) {
	t.Helper()
	return plan.ParseSet([]byte(strings.ReplaceAll(document, "IMAGE", image)), sets)
}

func nowhere(context.Context, string) string { return "" }

func TestSetsAndExplanation(t *testing.T) {
	host := imagetest.Registry(t)
	ref := imagetest.Push(t, host, "lab/engine", imagetest.ForeignImage(t))
	tag := host + "/lab/engine:latest"
	loose, err := parse(t, tag, "allow_unpinned=true")
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	sets, err := Sets(t.Context(), loose, "", nowhere, &said)
	if want := "server.image=" + ref + " server.base_image=" + ref + " client.image=" + ref + " routers.0.image=" + ref; err != nil || strings.Join(sets, " ") != want {
		t.Errorf("sets %v, %v", sets, err)
	}
	if !strings.Contains(said.String(), "routers.0.image: "+tag+" → "+ref) {
		t.Errorf("said %s", said.String())
	}
	if p, err := parse(t, tag, sets...); err != nil || p.Server.BaseImage != ref {
		t.Errorf("pinned: %v", err)
	}

	_, refusal := parse(t, tag)
	got := fault.Of(Explain(t.Context(), refusal, nowhere, func() (plan.Plan, error) { return parse(t, tag, "allow_unpinned=true") }), fault.Plan)
	if got.Code != "plan.unpinned" || !strings.Contains(got.Text, "server.image is now "+ref) || !strings.Contains(got.Text, "routers.0.image is now "+ref) || !strings.Contains(got.Hint, "plan pin") {
		t.Errorf("explained: %+v", got)
	}
}

// Without a registry a tag is refused in the same words, and other errors are left alone.
func TestExplanationWithoutARegistry(t *testing.T) {
	tag := "127.0.0.1:1/lab/engine:latest"
	_, refusal := parse(t, tag)
	got := Explain(t.Context(), refusal, nowhere, func() (plan.Plan, error) { return parse(t, tag, "allow_unpinned=true") })
	if f := fault.Of(got, fault.Plan); f.Text != fault.Of(refusal, fault.Plan).Text || f.Code != "plan.unpinned" {
		t.Errorf("explained: %+v", f)
	}
	other := errors.New("other")
	if got := Explain(t.Context(), other, nowhere, nil); !errors.Is(got, other) {
		t.Errorf("another error became %v", got)
	}
	if got := Explain(t.Context(), nil, nowhere, nil); got != nil {
		t.Errorf("no error became %v", got)
	}
}

// A tag that only this machine's engine has is told by the id of its image, which pins it.
func TestLocalImage(t *testing.T) {
	tag, id := "127.0.0.1:1/lab/engine:latest", "127.0.0.1:1/lab/engine@sha256:"+strings.Repeat("a", 64)
	local := func(_ context.Context, asked string) string {
		if asked != tag {
			t.Errorf("asked for %s", asked)
		}
		return id
	}
	loose, err := parse(t, tag, "allow_unpinned=true")
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	_, err = Sets(t.Context(), loose, "", local, &said)
	if f := fault.Of(err, fault.Image); f.Code != "image.registry_unreachable" || !strings.Contains(f.Hint, "write server.image: "+id) {
		t.Errorf("%+v", f)
	}
	_, refusal := parse(t, tag)
	got := Explain(t.Context(), refusal, local, func() (plan.Plan, error) { return parse(t, tag, "allow_unpinned=true") })
	if f := fault.Of(got, fault.Plan); f.Code != "plan.unpinned" || !strings.Contains(f.Text, "routers.0.image is on this machine as "+id) {
		t.Errorf("%+v", f)
	}
}
