package docker_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/containers"
	"assay/containers/docker"
	"assay/containers/enginetest"
	"assay/containers/image"
	"assay/containers/imagetest"
	"assay/containers/instance"
	"assay/containers/instancetest"
	"assay/containers/leftover"
	"assay/plan"
)

// helloSpec is the tiny server as ServerSpec makes it of a plan.
func helloSpec(t *testing.T, ref string, change func(*plan.Plan)) instance.Spec {
	t.Helper()
	p := plan.Plan{Model: plan.Model{Name: "hello"}, Server: plan.Server{Engine: "vllm", Runtime: "docker", Image: ref, Stop: plan.Stop{Grace: plan.Duration(time.Minute)}}}
	if change != nil {
		change(&p)
	}
	specs, _, err := containers.ServerSpecs(p, containers.SpecOptions{Owner: instancetest.Owner(t), Run: instancetest.Owner(t), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return specs[0]
}

// TestDocker runs the tests that share one image, in this order: the first pulls it.
func TestDocker(t *testing.T) {
	imagetest.NeedDocker(t)
	wholeEngine(t, imagetest.HelloImage(t))
}

func wholeEngine(t *testing.T, ref string, without ...string) {
	for _, c := range []struct {
		name string
		test func(*testing.T, string)
	}{
		{"whole life", containerWholeLife},
		{"unpinned image", unpinnedImage},
		{"exit at start", containerThatExits},
		{"killed from outside", containerKilledFromOutside},
		{"stopped from outside", containerStoppedFromOutside},
		{"reap", containerReapLeavesOthersAlone},
		{"name", fixedName},
		{"failed start", failedStartLeavesNothing},
		{"stop with ended context", containerStopWithEndedContext},
		{"it does not end", containerThatDoesNotEnd},
		{"started again", containerStartedAgain},
	} {
		if slices.Contains(without, c.name) {
			continue
		}
		t.Run(c.name, func(t *testing.T) { c.test(t, ref) })
	}
}

func containerWholeLife(t *testing.T, ref string) {
	model := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(model, []byte("weights"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, network := range []string{"bridge", "host"} {
		t.Run(network, func(t *testing.T) {
			s := helloSpec(t, ref, func(p *plan.Plan) {
				p.Model.Path, p.Server.Network, p.Server.Env = model, network, map[string]string{"GREETING": "ahoy"}
				p.Server.Args = []string{"--read", "/model/model.gguf", "--write", "/model/model.gguf"}
			})
			s, pulls := instancetest.Prepare(t, docker.Here(), s)
			if network == "bridge" && len(pulls) < 2 || network == "host" && pulls[0].Status != "already present" {
				t.Errorf("pulls %+v", pulls)
			}
			inst := instancetest.Start(t, docker.Here(), s)
			id, err := containers.Ready(t.Context(), inst, instancetest.Preset(t, "vllm"), containers.ReadyOptions{Model: "hello"}, func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			if id.Image != ref || !strings.HasPrefix(id.ImageID, "sha256:") || id.Version != "hello" || id.Name == "" || id.Argv[0] != "/hello" {
				t.Errorf("identity %+v", id)
			}
			if f := id.ImageFacts; f == nil || f.Pinned != ref || f.ID != id.ImageID || len(f.Layers) != 1 || f.ManifestDigest != ref[strings.Index(ref, "@")+1:] {
				t.Errorf("image %+v", f)
			}
			log := instancetest.AwaitLog(t, inst, "read: weights")
			for _, want := range []string{"stdout: hello\n", "stderr: hello ahoy\n", "read-only file system"} {
				if !strings.Contains(log, want) {
					t.Errorf("%q is not in the log:\n%s", want, log)
				}
			}
			exit, err := inst.Stop(t.Context())
			if err != nil || exit.Code != 0 || exit.OOM || !exit.Asked || exit.Killed || exit.Restarts != 0 || exit.Name != inst.Identity().Name {
				t.Errorf("stop: %+v, %v", exit, err)
			}
			if e, ok := <-inst.Exited(); ok {
				t.Errorf("a stop that was asked for is reported as an exit: %+v", e)
			}
			if again, err := inst.Stop(t.Context()); err != nil || !reflect.DeepEqual(again, exit) {
				t.Errorf("second stop: %+v, %v", again, err)
			}
			if left := imagetest.ContainersOf(t, s.Owner); left != "" {
				t.Errorf("left behind: %s", left)
			}
			if b, _ := os.ReadFile(inst.LogPath()); !strings.Contains(string(b), "stopping") {
				t.Errorf("the end of the log is missing:\n%s", b)
			}
		})
	}
}

// An unpinned image runs when the plan allows it, and the identity names the digest that the tag meant.
func unpinnedImage(t *testing.T, ref string) {
	repository, _, _ := strings.Cut(ref, "@")
	s := helloSpec(t, repository+":latest", func(p *plan.Plan) { p.Unpinned = true })
	s, _ = instancetest.Prepare(t, docker.Here(), s)
	t.Cleanup(func() { imagetest.Docker(t, "image", "rm", "--force", s.Image) })
	inst := instancetest.Start(t, docker.Here(), s)
	imagetest.Docker(t, "tag", ref, repository+":latest")
	local := containers.LocalImage(t.Context(), docker.Here().At, repository+":latest")
	pinned := helloSpec(t, local, nil)
	if _, err := docker.Here().Prepare(t.Context(), pinned, func(image.Progress) {}); err != nil {
		t.Errorf("what the engine has under a tag, as %q: %v", local, err)
	}
	if got := containers.LocalImage(t.Context(), docker.Here().At, repository+":nothing"); got != "" {
		t.Errorf("an image that is not there: %s", got)
	}
	if got := inst.Identity().Image; got != ref {
		t.Errorf("identity names %s, want %s", got, ref)
	}
}

func containerThatExits(t *testing.T, ref string) {
	s := helloSpec(t, ref, func(p *plan.Plan) { p.Server.Args = []string{"--exit", "now"} })
	s, _ = instancetest.Prepare(t, docker.Here(), s)
	inst := instancetest.Start(t, docker.Here(), s)
	_, err := containers.Ready(t.Context(), inst, instancetest.Preset(t, "vllm"), containers.ReadyOptions{}, func(string) {})
	enginetest.WantFault(t, err, "server.gpu_oom", "exited with code 7", "HIP out of memory")
}

func containerKilledFromOutside(t *testing.T, ref string) {
	s := helloSpec(t, ref, nil)
	s, _ = instancetest.Prepare(t, docker.Here(), s)
	for _, kill := range [][]string{{"kill"}, {"rm", "--force"}} {
		inst := instancetest.Start(t, docker.Here(), s)
		instancetest.AwaitLog(t, inst, "stderr: hello")
		imagetest.Docker(t, append(kill, inst.Identity().Name)...)
		e, ok := <-inst.Exited()
		removed := kill[0] == "rm" && strings.Contains(e.Reason, "removed by somebody else") // podman tells no code then
		if !ok || !removed && (e.Code != 137 || !strings.Contains(e.Reason, "signal 9")) {
			t.Errorf("%v: exit %+v, %v", kill, e, ok)
		}
		if f := containers.ExitFault(inst, e); !e.Outside || !strings.Contains(f.Hint, "a person or a clean-up job") || strings.Contains(f.Hint, "dmesg") {
			t.Errorf("%v: %+v, %+v", kill, e, f)
		}
		if _, err := inst.Stop(t.Context()); err != nil {
			t.Errorf("%v: stop after it: %v", kill, err)
		}
	}
	if left := imagetest.ContainersOf(t, s.Owner); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

func containerStoppedFromOutside(t *testing.T, ref string) {
	s, _ := instancetest.Prepare(t, docker.Here(), helloSpec(t, ref, nil))
	inst := instancetest.Start(t, docker.Here(), s)
	instancetest.AwaitLog(t, inst, "stderr: hello")
	imagetest.Docker(t, "stop", inst.Identity().Name)
	e, ok := <-inst.Exited()
	if f := containers.ExitFault(inst, e); !ok || !e.Outside || f.Code != "server.exited" || !strings.Contains(f.Hint, "a person or a clean-up job") {
		t.Errorf("%+v, %+v", e, f)
	}
}

func containerReapLeavesOthersAlone(t *testing.T, ref string) {
	s := helloSpec(t, ref, nil)
	s, _ = instancetest.Prepare(t, docker.Here(), s)
	foreign := imagetest.Docker(t, "create", "--label", "assay.owner=another", s.Image)
	defer imagetest.Docker(t, "rm", "--force", foreign)
	inst := instancetest.Start(t, docker.Here(), s)
	found := containers.Reap(t.Context(), leftover.Search{Owner: s.Owner}, docker.Here().At)
	if names := found.Names(); found.Failed != nil || len(names) != 1 || !strings.Contains(names[0], "server of run "+s.Run) {
		t.Errorf("reaped %+v", found)
	}
	<-inst.Exited()
	if got := imagetest.Docker(t, "inspect", "--format", "{{.State.Status}}", foreign); got != "created" {
		t.Errorf("the container of another is %s", got)
	}
}

// The name of a run's server is fixed: what an interrupted start left is replaced, a stranger's container is not.
func fixedName(t *testing.T, ref string) {
	s := helloSpec(t, ref, nil)
	s, _ = instancetest.Prepare(t, docker.Here(), s)
	imagetest.Docker(t, "create", "--name", s.Name(), "--label", "assay.owner="+s.Owner, s.Image)
	inst := instancetest.Start(t, docker.Here(), s)
	if _, err := inst.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	stranger := imagetest.Docker(t, "create", "--name", s.Name(), s.Image)
	defer imagetest.Docker(t, "rm", "--force", stranger)
	_, err := docker.Here().Start(t.Context(), s)
	enginetest.WantFault(t, err, "server.name_taken")
}

func failedStartLeavesNothing(t *testing.T, ref string) {
	for _, c := range []struct {
		name, code string
		change     func(*instance.Spec)
	}{
		{"mount of nothing", "preflight.mount_missing", func(s *instance.Spec) { s.Mounts = []instance.Mount{{Source: "/no/such/folder", Target: "/x"}} }},
		{"mount of a file on a folder", "server.start_failed", func(s *instance.Spec) { s.Mounts = []instance.Mount{{Source: "/etc/hostname", Target: "/tmp"}} }},
		{"image that was never pulled", "image.not_stored", func(s *instance.Spec) {
			s.Image, s.Prepared = strings.Replace(s.Image, "sha256:", "sha256:00", 1)[:len(s.Image)], nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := helloSpec(t, ref, nil)
			s, _ = instancetest.Prepare(t, docker.Here(), s)
			c.change(&s)
			inst, err := docker.Here().Start(t.Context(), s)
			if err == nil {
				_, err = inst.Stop(t.Context())
				t.Fatalf("it started; stop: %v", err)
			}
			enginetest.WantFault(t, err, c.code)
			if left := imagetest.ContainersOf(t, s.Owner); left != "" {
				t.Errorf("left behind: %s", left)
			}
			if _, err := os.Stat("/no/such/folder"); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the engine made the missing folder: %v", err)
			}
		})
	}
}

func containerStopWithEndedContext(t *testing.T, ref string) {
	s := helloSpec(t, ref, nil)
	s, _ = instancetest.Prepare(t, docker.Here(), s)
	inst := instancetest.Start(t, docker.Here(), s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	exit, err := inst.Stop(ctx)
	if err != nil || !exit.Killed || exit.Code != instance.KilledCode || exit.Signal != "SIGKILL" {
		t.Fatalf("%+v, %v", exit, err)
	}
	if left := imagetest.ContainersOf(t, s.Owner); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// containerThatDoesNotEnd is killed after its grace, and its exit says so.
func containerThatDoesNotEnd(t *testing.T, ref string) {
	s := helloSpec(t, ref, nil)
	s.StopGrace = time.Second
	s, _ = instancetest.Prepare(t, docker.Here(), s)
	inst := instancetest.Start(t, docker.Here(), s)
	signalled(t, inst.Identity().Name, syscall.SIGSTOP) // it hears no SIGTERM
	exit, err := inst.Stop(t.Context())
	if err != nil || !exit.Asked || !exit.Killed || exit.Took < time.Second || exit.Signal != "SIGKILL" {
		t.Errorf("%+v, %v", exit, err)
	}
}

// signalled sends a container's first process a signal from outside, past the engine.
func signalled(t *testing.T, name string, sig syscall.Signal) {
	t.Helper()
	pid, err := strconv.Atoi(imagetest.Docker(t, "inspect", "--format", "{{.State.Pid}}", name))
	if err == nil {
		err = syscall.Kill(pid, sig)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// containerStartedAgain by a restart policy that somebody gave it: it has ended by itself, and its exit counts the restarts.
func containerStartedAgain(t *testing.T, ref string) {
	s := helloSpec(t, ref, nil)
	s, _ = instancetest.Prepare(t, docker.Here(), s)
	inst := instancetest.Start(t, docker.Here(), s)
	name := inst.Identity().Name
	imagetest.Docker(t, "update", "--restart", "always", name)
	signalled(t, name, syscall.SIGKILL)
	if e, ok := <-inst.Exited(); !ok || e.Code != instance.KilledCode {
		t.Errorf("exit %+v, %v", e, ok)
	}
	for imagetest.Docker(t, "inspect", "--format", "{{.RestartCount}} {{.State.Running}}", name) != "1 true" { // the engine is on it
		if t.Context().Err() != nil {
			t.Fatal("it is not started again")
		}
	}
	exit, err := inst.Stop(t.Context())
	if err != nil || exit.Asked || exit.Restarts != 1 || exit.Code != instance.KilledCode {
		t.Errorf("%+v, %v", exit, err)
	}
	if left := imagetest.ContainersOf(t, s.Owner); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// The real engine, from a registry by digest to an answer and to nothing.
func TestLlamaInDocker(t *testing.T) {
	imagetest.NeedDocker(t)
	ref, model := imagetest.LlamaImage(t), imagetest.LlamaModel(t)
	p := plan.Plan{Model: plan.Model{Name: "smollm2", Path: model}, Server: plan.Server{Engine: "llamacpp", Runtime: "docker", Image: ref, Args: []string{"-t", "1", "--parallel", "2", "--ctx-size", "2048"}}}
	specs, preset, err := containers.ServerSpecs(p, containers.SpecOptions{Owner: instancetest.Owner(t), Run: fmt.Sprintf("llama-%d", os.Getpid()), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s, _ := instancetest.Prepare(t, docker.Here(), specs[0])
	inst := instancetest.Start(t, docker.Here(), s)
	id, err := containers.Ready(t.Context(), inst, preset, containers.ReadyOptions{Timeout: 5 * time.Minute, Model: "smollm2"}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if id.Models[0] != "smollm2" || id.MaxModelLen != 1024 || id.KVTokens != 2048 {
		t.Errorf("identity %+v", id)
	}
	instancetest.Await(t, "counted tokens", func() bool {
		m, err := containers.Scrape(t.Context(), inst.BaseURLs(), preset, containers.Access{})
		return err == nil && m.Values["generation_tokens"] > 0
	})
	if exit, err := inst.Stop(t.Context()); err != nil || exit.Code != 0 {
		t.Errorf("stop: %+v, %v", exit, err)
	}
	if left := imagetest.ContainersOf(t, s.Owner); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// TestPodman has podman's socket do all that is asked of Docker's.
func TestPodman(t *testing.T) {
	ref := imagetest.HelloImage(t)
	registry, _, _ := strings.Cut(ref, "/")
	t.Setenv("DOCKER_HOST", "unix://"+imagetest.Podman(t, registry))
	wholeEngine(t, ref, "started again", "stopped from outside") // podman 4.3 cannot change a container's restart policy, and tells no order to stop
}
