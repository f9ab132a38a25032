package agent

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"assay/agent/foreign/foreigntest"
	"assay/containers"
	"assay/containers/imagetest"
	"assay/result"
)

// TestForeignContainer: a client from an image, pulled by digest before anything is started, measures as one that is a process; it is gone with
// its run, also when it would never end.
func TestForeignContainer(t *testing.T) {
	own := imagetest.StartEngine(t, 0)
	program := imagetest.Build(t, "assay/agent/foreign/foreigntest/client")
	image := imagetest.Push(t, imagetest.Registry(t), "lab/client", imagetest.Image(t, imagetest.Files{"/client": program}, "/wrong"))
	a := newAgent(t)
	a.Docker = containers.FindDocker("unix://"+own.Socket, os.Getenv)
	_, url := startSim(t, quickSim("sim"))
	p := foreignPlan(t, a, "mlperf-endpoints", url)
	p.Client.Runtime, p.Client.Image, p.Client.Command = "docker", image, []string{"/client", "mlperf-endpoints"}

	behaving(a, "well")
	r := execute(t, a, submit(t, a, p))
	if r.Run.State != result.Done || len(r.Points) != 1 {
		t.Fatalf("%s %v", r.Run.State, r.Run.Error)
	}
	if one := r.Points[0]; one.MLPerf == nil || one.MLPerf.RequestsCompleted != 32 || !onlyLoaded(codes(one)) {
		t.Errorf("%s %+v", one.State, one.Reasons)
	}
	if c := r.Identity.Client; c.Image != image || c.ImageID == "" || c.Version != "0.1.0" || c.Runtime != "docker" || c.SHA256 != "" {
		t.Errorf("%+v", c)
	}
	if !slices.ContainsFunc(r.Artifacts, func(f result.Artifact) bool { return f.Path == "client/c4/report/events.jsonl" }) {
		t.Error("what it wrote is not kept")
	}

	behaving(a, foreigntest.Hang)
	id := submit(t, a, p)
	onEvent(t, a, begins("measure", "c4"), func() {
		if err := a.Cancel(t.Context(), id); err != nil {
			t.Error(err)
		}
	})
	if r := execute(t, a, id); r.Run.State != result.Canceled {
		t.Errorf("%s %v", r.Run.State, r.Run.Error)
	}
	left, err := exec.Command("docker", "--host", "unix://"+own.Socket, "ps", "--all", "--quiet").CombinedOutput()
	if err != nil || strings.TrimSpace(string(left)) != "" {
		t.Errorf("%v, left: %s", err, left)
	}
}
