package containers

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/containers/enginetest"
	"assay/containers/imagetest"
	"assay/containers/instance"
	"assay/containers/instancetest"
	"assay/plan"
)

// helloReplicas are two of the tiny server, as ServerSpecs makes them of a plan.
func helloReplicas(t *testing.T, ref string) []Spec {
	t.Helper()
	p := plan.Plan{Model: plan.Model{Name: "hello"}, Server: plan.Server{Engine: "vllm", Runtime: "docker", Image: ref, Replicas: 2, GPUs: "none", Stop: plan.Stop{Grace: plan.Duration(time.Minute)}}}
	specs, _, err := ServerSpecs(p, SpecOptions{Owner: instancetest.Owner(t), Run: instancetest.Owner(t), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var pulls []Pull
	specs, err = PrepareAll(t.Context(), here(), specs, func(p Pull) { pulls = append(pulls, p) })
	if err != nil {
		t.Fatal(err)
	}
	if there := func(p Pull) bool { return p.Status == "already present" }; slices.ContainsFunc(pulls, there) && len(pulls) > 1 {
		t.Errorf("the image was looked for twice: %+v", pulls)
	}
	return specs
}

// TestFleetOfContainers: two containers of one image, each with its own name and log; one that is killed is named, and both are removed.
func TestFleetOfContainers(t *testing.T) {
	imagetest.NeedDocker(t)
	specs := helloReplicas(t, imagetest.HelloImage(t))
	inst, err := StartAll(t.Context(), here(), specs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = inst.Stop(context.WithoutCancel(t.Context())) })
	id, err := Ready(t.Context(), inst, instancetest.Preset(t, "vllm"), ReadyOptions{Model: "hello"}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if id.Image != specs[0].Image || id.ImageID != specs[0].Prepared.ID || id.ImageFacts == nil || len(id.Servers) != 2 {
		t.Errorf("together %+v", id)
	}
	for i, each := range id.Servers {
		if each.Name != "assay-"+specs[i].Run+"-"+specs[i].Role || each.ImageID != id.ImageID || each.ImageFacts != nil {
			t.Errorf("server %d: %+v", i, each)
		}
		if role := imagetest.Docker(t, "inspect", "--format", `{{index .Config.Labels "assay.role"}}`, each.Name); role != specs[i].Role {
			t.Errorf("role %q of %s", role, each.Name)
		}
		if log := instancetest.AwaitLog(t, Members(inst)[i], "stdout: hello"); !strings.HasSuffix(Members(inst)[i].LogPath(), specs[i].Role+".log") {
			t.Errorf("log %s:\n%s", Members(inst)[i].LogPath(), log)
		}
	}
	imagetest.Docker(t, "kill", id.Servers[1].Name)
	e, ok := <-inst.Exited()
	f := ExitFault(inst, e)
	if !ok || e.Name != id.Servers[1].Name || f.Code != "server.exited" || !strings.Contains(f.Text, "the server-1 was killed by signal 9") {
		t.Errorf("%+v, %v: %v", e, ok, f)
	}
	exit, err := inst.Stop(t.Context())
	if err != nil || len(exit.Members) != 2 || exit.Members[0].Code != 0 || exit.Members[1].Code != instance.KilledCode {
		t.Errorf("stop: %+v, %v", exit, err)
	}
	if left := imagetest.ContainersOf(t, instancetest.Owner(t)); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// TestFleetWhoseNameIsTaken: when the second cannot be created, the first is removed, and the container that has the name stays.
func TestFleetWhoseNameIsTaken(t *testing.T) {
	imagetest.NeedDocker(t)
	ref := imagetest.HelloImage(t)
	specs := helloReplicas(t, ref)
	name := specs[1].Name()
	imagetest.Docker(t, "create", "--name", name, ref)
	t.Cleanup(func() { imagetest.Docker(t, "rm", "--force", name) })
	_, err := StartAll(t.Context(), here(), specs)
	enginetest.WantFault(t, err, "server.name_taken", name)
	if left := imagetest.ContainersOf(t, instancetest.Owner(t)); left != "" {
		t.Errorf("left behind: %s", left)
	}
	if imagetest.Docker(t, "inspect", "--format", "{{.State.Status}}", name) != "created" {
		t.Error("somebody else's container was touched")
	}
}
