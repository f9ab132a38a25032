package docker_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"assay/containers/docker"
	"assay/containers/imagetest"
	"assay/containers/instancetest"
	"assay/containers/leftover"
	"assay/containers/socket"
)

// A log that the engine does not give is the loss of a log: the server runs, ends as it was asked to, and nothing of it is left. Its file says why
// it has no more.
func TestLogThatCannotBeFetched(t *testing.T) {
	ref, own := imagetest.HelloImage(t), imagetest.StartEngine(t, 0)
	d := docker.Runtime{At: socket.At(docker.Broken(t, own.Socket, func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/logs") }))}
	s := hostSpec(t, d, ref)
	s.Rights.Wishes = nil // what the engine may give is not seen through a socket of this test
	inst := instancetest.Start(t, d, s)
	instancetest.Await(t, "an answer", func() bool {
		r, err := http.Get(inst.BaseURLs()[0])
		if err != nil {
			return false
		}
		return r.Body.Close() == nil
	})
	select {
	case e := <-inst.Exited():
		t.Fatalf("it counts as ended: %+v", e)
	default:
	}
	if e, err := inst.Stop(t.Context()); err != nil || !e.Asked || e.Killed || e.Away != nil || e.Error != "" {
		t.Errorf("%+v, %v", e, err)
	}
	if log, err := os.ReadFile(inst.LogPath()); err != nil || !strings.Contains(string(log), "[the log ends here: ") || !strings.Contains(string(log), "device or resource busy") {
		t.Errorf("%v, log:\n%s", err, log)
	}
	if f := d.Reap(t.Context(), leftover.Search{Owner: s.Owner}); f.Failed != nil || len(f.Removed) > 0 {
		t.Errorf("left behind: %+v", f)
	}
}
