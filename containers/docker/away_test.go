package docker_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"assay/containers"
	"assay/containers/docker"
	"assay/containers/enginetest"
	"assay/containers/image"
	"assay/containers/imagetest"
	"assay/containers/instance"
	"assay/containers/instancetest"
	"assay/containers/leftover"
	"assay/containers/socket"
	"assay/plan"
)

// hostSpec is the tiny server on the host's network, for an engine of the test's own.
func hostSpec(t *testing.T, d docker.Runtime, ref string) instance.Spec {
	t.Helper()
	s := helloSpec(t, ref, func(p *plan.Plan) { p.Server.Network = "host" })
	s, err := d.Prepare(t.Context(), s, func(image.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The container engine is killed, or restarted as an administrator does, while a server runs: the server's end is told as that. Where the
// engine leaves its containers running, so does everything here, and no line of the log is lost.
func TestEngineRestarts(t *testing.T) {
	ref := imagetest.HelloImage(t)
	for _, c := range []struct {
		name  string
		sig   syscall.Signal
		args  []string
		lives bool
	}{
		{"killed", syscall.SIGKILL, nil, false},
		{"restarted", syscall.SIGTERM, nil, false},
		{"killed and live-restore", syscall.SIGKILL, []string{"--live-restore"}, true},
		{"restarted and live-restore", syscall.SIGTERM, []string{"--live-restore"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			own := imagetest.StartEngine(t, 0, c.args...)
			d := docker.Runtime{At: socket.At(own.Socket)}
			s := hostSpec(t, d, ref)
			inst := instancetest.Start(t, d, s)
			instancetest.AwaitLog(t, inst, "stderr: hello")
			own.End(c.sig)
			own.Start()
			if !c.lives {
				e, ok := <-inst.Exited()
				if !ok || !e.Restarted {
					t.Errorf("exit %+v, %v", e, ok)
				}
				enginetest.WantFault(t, containers.ExitFault(inst, e), "server.engine_restarted", "the container engine was restarted")
			}
			if _, err := inst.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			log, _ := os.ReadFile(inst.LogPath())
			if n := strings.Count(string(log), "stderr: hello"); n != 1 || c.lives && !strings.HasSuffix(string(log), "stopping\n") {
				t.Errorf("the log has its first line %d times:\n%s", n, log)
			}
			if f := d.Reap(t.Context(), leftover.Search{Owner: s.Owner}); f.Failed != nil || len(f.Removed) > 0 {
				t.Errorf("left behind: %+v", f)
			}
		})
	}
}

// The engine ends and stays away: the server counts as lost, what cannot be stopped is told as that, and it is removed once the engine is back.
func TestEngineStaysAway(t *testing.T) {
	ref := imagetest.HelloImage(t)
	own := imagetest.StartEngine(t, 0)
	d := docker.Runtime{At: socket.At(own.Socket)}
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			s := hostSpec(t, d, ref)
			inst := instancetest.Start(t, d, s)
			instancetest.AwaitLog(t, inst, "stderr: hello")
			if containers.InDoubt(inst) {
				t.Error("in doubt while all is well")
			}
			own.End(sig)
			e, ok := <-inst.Exited()
			if !ok || e.Away == nil || e.Restarted || !containers.InDoubt(inst) {
				t.Errorf("exit %+v, %v", e, ok)
			}
			enginetest.WantFault(t, containers.ExitFault(inst, e), "server.docker_unreachable", "went away while the server ran")
			_, err := inst.Stop(t.Context())
			enginetest.WantFault(t, err, "server.docker_unreachable", "could not be stopped and removed")
			own.Start()
			if f := d.Reap(t.Context(), leftover.Search{Owner: s.Owner}); f.Failed != nil || len(f.Removed) != 1 {
				t.Errorf("reaped: %+v", f)
			}
		})
	}
}
