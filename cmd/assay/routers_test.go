package main

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"assay/containers"
	"assay/containers/imagetest"
	"assay/result"
)

// TestRoutersInDocker runs the plan of seed 1 in small, as a user would: conversations against two real inference servers in containers, nginx
// before them at the first points and HAProxy at the last, every image pulled by digest.
func TestRoutersInDocker(t *testing.T) {
	_, model := llamaFiles(t)
	imagetest.NeedDocker(t)
	llama, nginx, haproxy := imagetest.LlamaImage(t), imagetest.ProgramImage(t, "nginx"), imagetest.ProgramImage(t, "haproxy")
	p := newProgram(t)
	doc := p.must(exitValid, "run", root+"/examples/agentic-routers.yaml", "--set", "server.image="+llama, "--set", "model.path="+model,
		"--set", "routers.0.image="+nginx, "--set", "routers.1.image="+haproxy, "--json").result(t)
	if doc.Run.State != result.Done {
		t.Fatalf("%s: %v", doc.Run.State, doc.Run.Error)
	}
	for _, pt := range doc.Points {
		if pt.State != result.PointValid && !onlyBusy(pt.Reasons) {
			t.Errorf("%s is %s: %v", pt.ID, pt.State, pt.Reasons)
		}
		if slices.ContainsFunc(pt.Notes, func(n string) bool { return strings.Contains(n, "cannot keep") }) {
			t.Errorf("%s has too little to hold its load on any machine: %v", pt.ID, pt.Notes)
		}
		checkRouting(t, pt)
	}
	var images []string
	for _, raw := range append(slices.Clone(doc.Identity.Routers), doc.Identity.Server) {
		var id containers.Identity
		if err := json.Unmarshal(raw, &id); err != nil {
			t.Fatal(err)
		}
		images = append(images, id.Image)
		if len(id.Servers) > 0 {
			images[len(images)-1] = id.Servers[0].Image
		}
	}
	if got := strings.Join(images, " "); got != nginx+" "+haproxy+" "+llama {
		t.Errorf("images %s", got)
	}
	if kept := doc.Points[0].Routing.Config + " " + doc.Points[2].Routing.Config; kept != "nginx-c2.conf haproxy-c8.cfg" {
		t.Errorf("configurations %s", kept)
	}
	file := t.TempDir() + "/run.tar.zst"
	p.must(exitValid, "archive", doc.Run.ID, "--out", file)
	p.must(exitValid, "verify", file)
	if left, err := exec.Command("docker", "ps", "--all", "--quiet", "--filter", "name=assay-"+doc.Run.ID).Output(); err != nil || len(left) > 0 {
		t.Errorf("containers left: %s, %v", left, err)
	}
}

// checkRouting: sessions stayed, the spread over both servers was counted, and the router took what it must.
func checkRouting(t *testing.T, pt result.Point) {
	t.Helper()
	r := pt.Routing
	if r == nil || r.Sessions == nil || r.Connections == nil || r.FirstByte == nil || r.Load == nil {
		t.Fatalf("%s: %+v", pt.ID, r)
	}
	if r.Sessions.Moved != 0 || r.Sessions.By != "X-Upstream" || len(r.Sessions.PerServer) != 2 && pt.Router == "haproxy" || r.Servers != 2 {
		t.Errorf("%s: sessions %+v", pt.ID, *r.Sessions)
	}
	if r.Connections.Held != r.Connections.Asked || r.Body != nil && !r.Body.Accepted || r.Started != (pt.ID != "c4") {
		t.Errorf("%s: %+v, %+v, started %v", pt.ID, *r.Connections, r.Body, r.Started)
	}
	var counted int64
	for _, n := range r.Load.PerServer {
		counted += n
	}
	if pt.Engine == nil || counted != pt.Engine.GenerationTokens || counted == 0 {
		t.Errorf("%s: the servers counted %v, together %+v", pt.ID, r.Load.PerServer, pt.Engine)
	}
}
