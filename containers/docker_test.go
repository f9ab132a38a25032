package containers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/containers/enginetest"
	"assay/containers/imagetest"
	"assay/plan"
)

// helloSpec is the tiny server as ServerSpec makes it of a plan.
func helloSpec(t *testing.T, ref string, change func(*plan.Plan)) Spec {
	t.Helper()
	p := plan.Plan{Model: plan.Model{Name: "hello"}, Server: plan.Server{Engine: "vllm", Runtime: "docker", Image: ref, Stop: plan.Stop{Grace: plan.Duration(5 * time.Second)}}}
	if change != nil {
		change(&p)
	}
	s, _, err := ServerSpec(p, SpecOptions{Owner: ownerOf(t), Run: ownerOf(t), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func prepare(t *testing.T, s Spec) []Pull {
	t.Helper()
	var seen []Pull
	if err := (docker{DefaultSocket}).Prepare(t.Context(), s, func(p Pull) { seen = append(seen, p) }); err != nil {
		t.Fatal(err)
	}
	return seen
}

// dockerLines runs the engine's own command line: the tests see what an operator would.
func dockerLines(t *testing.T, args ...string) string {
	t.Helper()
	b, err := exec.Command("docker", args...).CombinedOutput()
	if err != nil {
		t.Fatalf("docker %v: %v\n%s", args, err, b)
	}
	return strings.TrimSpace(string(b))
}

func containersOf(t *testing.T, owner string) string {
	t.Helper()
	return dockerLines(t, "ps", "--all", "--quiet", "--filter", "label=assay.owner="+owner)
}

// TestDocker runs the tests that share one image, in this order: the first pulls it.
func TestDocker(t *testing.T) {
	imagetest.NeedDocker(t)
	ref := imagetest.HelloImage(t)
	for _, c := range []struct {
		name string
		test func(*testing.T, string)
	}{
		{"whole life", containerWholeLife},
		{"unpinned image", unpinnedImage},
		{"exit at start", containerThatExits},
		{"killed from outside", containerKilledFromOutside},
		{"reap", containerReapLeavesOthersAlone},
		{"name", fixedName},
		{"failed start", failedStartLeavesNothing},
		{"stop with ended context", containerStopWithEndedContext},
	} {
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
			pulls := prepare(t, s)
			if network == "bridge" && len(pulls) < 2 || network == "host" && pulls[0].Status != "already present" {
				t.Errorf("pulls %+v", pulls)
			}
			inst := startSpec(t, docker{DefaultSocket}, s)
			id, err := Ready(t.Context(), inst, preset(t, "vllm"), ReadyOptions{Model: "hello"}, func(string) {})
			if err != nil {
				t.Fatal(err)
			}
			if id.Image != ref || !strings.HasPrefix(id.ImageID, "sha256:") || id.Version != "hello" || id.Name == "" || id.Argv[0] != "/hello" {
				t.Errorf("identity %+v", id)
			}
			log := awaitLog(t, inst, "read: weights")
			for _, want := range []string{"stdout: hello\n", "stderr: hello ahoy\n", "read-only file system"} {
				if !strings.Contains(log, want) {
					t.Errorf("%q is not in the log:\n%s", want, log)
				}
			}
			exit, err := inst.Stop(t.Context())
			if err != nil || exit.Code != 0 || exit.OOM {
				t.Errorf("stop: %+v, %v", exit, err)
			}
			if e, ok := <-inst.Exited(); ok {
				t.Errorf("a stop that was asked for is reported as an exit: %+v", e)
			}
			if again, err := inst.Stop(t.Context()); err != nil || again != exit {
				t.Errorf("second stop: %+v, %v", again, err)
			}
			if left := containersOf(t, s.Owner); left != "" {
				t.Errorf("left behind: %s", left)
			}
			if b, _ := os.ReadFile(inst.LogPath()); !strings.Contains(string(b), "stopping") {
				t.Errorf("the end of the log is missing:\n%s", b)
			}
		})
	}
}

func TestPrepareRefuses(t *testing.T) {
	imagetest.NeedDocker(t)
	host := imagetest.Registry(t)
	hello := imagetest.Files{"/hello": imagetest.Build(t, "assay/containers/imagetest/testdata/hello")}
	ref := imagetest.Push(t, host, "assay/hello", imagetest.Image(t, hello, "/hello"))
	_, sum, _ := strings.Cut(ref, "@")
	for _, c := range []struct{ name, image, code string }{
		{"a tag", host + "/assay/hello:latest", "image.unpinned"},
		{"no tag", host + "/assay/hello", "image.unpinned"},
		{"nothing", "", "image.missing"},
		{"half a digest", host + "/assay/hello@sha256:12", "image.invalid"},
		{"an unknown digest", host + "/assay/hello@sha256:" + strings.Repeat("ab", 32), "image.not_found"},
		{"an unknown repository", host + "/assay/none@" + sum, "image.not_found"},
		{"no registry", "127.0.0.1:1/assay/hello@sha256:" + strings.Repeat("ab", 32), "image.pull_failed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := Spec{Role: "server", Image: c.image}
			enginetest.WantFault(t, docker{DefaultSocket}.Prepare(t.Context(), s, func(Pull) {}), c.code, c.image)
		})
	}
	t.Run("canceled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := (docker{DefaultSocket}).Prepare(ctx, Spec{Image: ref}, func(Pull) {}); err == nil {
			t.Error("no error")
		}
	})
}

func TestPrepareRefusesAnotherPlatform(t *testing.T) {
	imagetest.NeedDocker(t)
	img := imagetest.ForeignImage(t)
	ref := imagetest.Push(t, imagetest.Registry(t), "assay/foreign", img)
	enginetest.WantFault(t, docker{DefaultSocket}.Prepare(t.Context(), Spec{Image: ref}, func(Pull) {}), "image.wrong_platform", "s390x")
}

// An unpinned image runs when the plan allows it, and the identity names the digest that the tag meant.
func unpinnedImage(t *testing.T, ref string) {
	repository, _, _ := strings.Cut(ref, "@")
	s := helloSpec(t, repository+":latest", func(p *plan.Plan) { p.Unpinned = true })
	prepare(t, s)
	t.Cleanup(func() { dockerLines(t, "image", "rm", "--force", s.Image) })
	inst := startSpec(t, docker{DefaultSocket}, s)
	if got := inst.Identity().Image; got != ref {
		t.Errorf("identity names %s, want %s", got, ref)
	}
}

func containerThatExits(t *testing.T, ref string) {
	s := helloSpec(t, ref, func(p *plan.Plan) { p.Server.Args = []string{"--exit", "now"} })
	prepare(t, s)
	inst := startSpec(t, docker{DefaultSocket}, s)
	_, err := Ready(t.Context(), inst, preset(t, "vllm"), ReadyOptions{}, func(string) {})
	enginetest.WantFault(t, err, "server.exited", "exited with code 7", "gpu_oom", "HIP out of memory")
}

func containerKilledFromOutside(t *testing.T, ref string) {
	s := helloSpec(t, ref, nil)
	prepare(t, s)
	for _, kill := range [][]string{{"kill"}, {"rm", "--force"}} {
		inst := startSpec(t, docker{DefaultSocket}, s)
		awaitLog(t, inst, "stderr: hello")
		dockerLines(t, append(kill, inst.Identity().Name)...)
		if e, ok := <-inst.Exited(); !ok || e.Code != 137 || !strings.Contains(e.Reason, "signal 9") {
			t.Errorf("%v: exit %+v, %v", kill, e, ok)
		}
		if _, err := inst.Stop(t.Context()); err != nil {
			t.Errorf("%v: stop after it: %v", kill, err)
		}
	}
	if left := containersOf(t, s.Owner); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

func containerReapLeavesOthersAlone(t *testing.T, ref string) {
	s := helloSpec(t, ref, nil)
	prepare(t, s)
	foreign := dockerLines(t, "create", "--label", "assay.owner=another", s.Image)
	defer dockerLines(t, "rm", "--force", foreign)
	inst := startSpec(t, docker{DefaultSocket}, s)
	names, err := ReapAll(t.Context(), s.Owner)
	if err != nil || len(names) != 1 || !strings.Contains(names[0], "server of run "+s.Run) {
		t.Errorf("reaped %v, %v", names, err)
	}
	<-inst.Exited()
	if got := dockerLines(t, "inspect", "--format", "{{.State.Status}}", foreign); got != "created" {
		t.Errorf("the container of another is %s", got)
	}
}

// The name of a run's server is fixed: what an interrupted start left is replaced, a stranger's container is not.
func fixedName(t *testing.T, ref string) {
	s := helloSpec(t, ref, nil)
	prepare(t, s)
	dockerLines(t, "create", "--name", containerName(s), "--label", "assay.owner="+s.Owner, s.Image)
	inst := startSpec(t, docker{DefaultSocket}, s)
	if _, err := inst.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	stranger := dockerLines(t, "create", "--name", containerName(s), s.Image)
	defer dockerLines(t, "rm", "--force", stranger)
	_, err := docker{DefaultSocket}.Start(t.Context(), s)
	enginetest.WantFault(t, err, "server.name_taken")
}

func failedStartLeavesNothing(t *testing.T, ref string) {
	for _, c := range []struct {
		name, code string
		change     func(*Spec)
	}{
		{"mount of nothing", "server.create_failed", func(s *Spec) { s.Mounts = []Mount{{Source: "/no/such/folder", Target: "/x"}} }},
		{"mount of a file on a folder", "server.start_failed", func(s *Spec) { s.Mounts = []Mount{{Source: "/etc/hostname", Target: "/tmp"}} }},
		{"image that was never pulled", "image.not_stored", func(s *Spec) { s.Image = strings.Replace(s.Image, "sha256:", "sha256:00", 1)[:len(s.Image)] }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := helloSpec(t, ref, nil)
			prepare(t, s)
			c.change(&s)
			inst, err := docker{DefaultSocket}.Start(t.Context(), s)
			if err == nil {
				_, err = inst.Stop(t.Context())
				t.Fatalf("it started; stop: %v", err)
			}
			enginetest.WantFault(t, err, c.code)
			if left := containersOf(t, s.Owner); left != "" {
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
	prepare(t, s)
	inst := startSpec(t, docker{DefaultSocket}, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := inst.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	if left := containersOf(t, s.Owner); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

// The real engine, from a registry by digest to an answer and to nothing.
func TestLlamaInDocker(t *testing.T) {
	imagetest.NeedDocker(t)
	ref, model := imagetest.LlamaImage(t), imagetest.LlamaModel(t)
	p := plan.Plan{Model: plan.Model{Name: "smollm2", Path: model}, Server: plan.Server{Engine: "llamacpp", Runtime: "docker", Image: ref, Args: []string{"-t", "1", "--parallel", "2", "--ctx-size", "2048"}}}
	s, preset, err := ServerSpec(p, SpecOptions{Owner: ownerOf(t), Run: fmt.Sprintf("llama-%d", os.Getpid()), Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	prepare(t, s)
	inst := startSpec(t, docker{DefaultSocket}, s)
	id, err := Ready(t.Context(), inst, preset, ReadyOptions{Timeout: time.Minute, Model: "smollm2"}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if id.Models[0] != "smollm2" || id.MaxModelLen != 1024 || id.KVTokens != 2048 {
		t.Errorf("identity %+v", id)
	}
	await(t, "counted tokens", func() bool {
		m, err := Scrape(t.Context(), inst.BaseURLs(), preset, Access{})
		return err == nil && m.Values["generation_tokens"] > 0
	})
	if exit, err := inst.Stop(t.Context()); err != nil || exit.Code != 0 {
		t.Errorf("stop: %+v, %v", exit, err)
	}
	if left := containersOf(t, s.Owner); left != "" {
		t.Errorf("left behind: %s", left)
	}
}

func TestLlamaAsProcess(t *testing.T) {
	server, model := imagetest.LlamaServer(t), imagetest.LlamaModel(t)
	p := plan.Plan{Model: plan.Model{Name: "smollm2", Path: model}, Server: plan.Server{Engine: "llamacpp", Runtime: "process", Command: []string{server}, Args: []string{"-t", "1", "--parallel", "2", "--ctx-size", "2048"}}}
	s, preset, err := ServerSpec(p, SpecOptions{Owner: ownerOf(t), Run: "llama", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	inst := startSpec(t, process{}, s)
	id, err := Ready(t.Context(), inst, preset, ReadyOptions{Timeout: time.Minute, Model: "smollm2", Endpoint: "completions"}, func(string) {})
	if err != nil || id.Models[0] != "smollm2" {
		t.Fatalf("%+v, %v", id, err)
	}
	if exit, err := inst.Stop(t.Context()); err != nil || exit.Code != 0 {
		t.Errorf("stop: %+v, %v", exit, err)
	}
}

func TestDockerUnreachable(t *testing.T) {
	missing := docker{filepath.Join(t.TempDir(), "none.sock")}
	s := Spec{Role: "server", Image: "x@" + digest}
	enginetest.WantFault(t, missing.Prepare(t.Context(), s, func(Pull) {}), "server.docker_unreachable", missing.socket)
	s.HostPort, s.Dir = 0, t.TempDir()
	_, err := missing.Start(t.Context(), s)
	enginetest.WantFault(t, err, "server.docker_unreachable")
	if names, err := missing.Reap(t.Context(), "o"); err != nil || len(names) > 0 {
		t.Errorf("reap without an engine: %v, %v", names, err)
	}
	if DockerAt("/x").Name() != "docker" {
		t.Error("another name")
	}
}

// Something else than an engine at the socket.
func TestDockerIsNoDocker(t *testing.T) {
	d := docker{fakeEngine(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))}
	enginetest.WantFault(t, d.Prepare(t.Context(), Spec{Role: "server", Image: "x@" + digest}, func(Pull) {}), "server.docker_unreachable")
	if _, err := d.Reap(t.Context(), "o"); err == nil {
		t.Error("reaping at a broken engine is no error")
	}
}

func TestDrainPull(t *testing.T) {
	for _, c := range []struct{ name, stream, message string }{
		{"good", `{"status":"Pulling","id":"a"}{"status":"Downloading","id":"a","progressDetail":{"current":5,"total":10}}{"status":"Status: Downloaded newer image"}`, ""},
		{"new error form", `{"status":"x"}{"errorDetail":{"message":"no space left on device"}}`, "no space left on device"},
		{"old error form", `{"error":"manifest unknown"}`, "manifest unknown"},
	} {
		var last Pull
		message, err := drainPull(strings.NewReader(c.stream), func(p Pull) {
			if p.Total > 0 {
				last = p
			}
		})
		if err != nil || message != c.message {
			t.Errorf("%s: %q, %v", c.name, message, err)
		}
		if c.name == "good" && last != (Pull{"a", "Downloading", 5, 10}) {
			t.Errorf("progress %+v", last)
		}
	}
	if _, err := drainPull(strings.NewReader(`{"status":`), func(Pull) {}); err == nil {
		t.Error("a broken stream is no error")
	}
}

func FuzzDrainPull(f *testing.F) {
	f.Add([]byte(`{"status":"x"}{"errorDetail":{"message":"m"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = drainPull(bytes.NewReader(b), func(Pull) {})
	})
}
