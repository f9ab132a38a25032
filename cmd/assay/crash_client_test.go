package main

import (
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"

	"assay/containers/imagetest"
	"assay/result"
)

// withClient has a client from an image make so many requests that it is still at it when the daemon is killed.
func (c *crash) withClient() string {
	program := imagetest.Build(c.t, "assay/agent/foreign/foreigntest/client")
	image := imagetest.Push(c.t, imagetest.Registry(c.t), "lab/client", imagetest.Image(c.t, imagetest.Files{"/client": program}, "/wrong"))
	return `apiVersion: assay/v1
name: crash-client
model: {name: sim-1b}
server: {engine: sim, runtime: docker, network: host, image: '` + c.image + `', ready: {timeout: 3m}, stop: {grace: 5s}}
client: {kind: mlperf-endpoints, runtime: docker, image: '` + image + `', command: [/client, mlperf-endpoints], tokenizer: demo}
workload: {kind: synthetic, input_len: 24, lengths: words, sampling: {max_tokens: 16}}
protocol: {sweep: {concurrency: 1, requests: 5000}}
`
}

// TestKilledBesideAClient: the daemon is killed while a client from an image measures. The next start removes the client as it does the server,
// by the journal or, where that is lost, by their labels alone; what is somebody else's stays as it is.
func TestKilledBesideAClient(t *testing.T) {
	t.Parallel()
	c := newCrash(t, imagetest.StartEngine(t, 0).Socket)
	foreign, plan := c.foreigners(), c.withClient()
	for _, forget := range []bool{false, true} {
		c.run = c.daemon.submit(plan)
		c.points[c.run] = map[string]seen{}
		c.await(stage{name: "measure", point: "c1"})
		ours := []string{"assay-" + c.run + "-client", "assay-" + c.run + "-server"}
		await(t, "client that measures", func() bool { return slices.Equal(c.working(), ours) })
		c.daemon.stop(syscall.SIGKILL)
		if now := c.working(); !slices.Equal(now, ours) {
			t.Fatalf("after the kill only %v run", now)
		}
		c.restart(forget)
		c.check()
		doc, run := c.state()
		notes := strings.Join(doc.Identity.Notes, "\n")
		if run.State != result.Interrupted || !strings.Contains(notes, ours[0]) || !strings.Contains(notes, ours[1]) {
			t.Errorf("journal lost %v: the run is %s, with notes %s", forget, run.State, notes)
		}
		if now := c.inspect(slices.Sorted(maps.Keys(foreign))...); !maps.Equal(foreign, now) {
			t.Errorf("containers of others: before %v, after %v", foreign, now)
		}
		c.nothingElse(foreign)
	}
}

// working are the containers of the run that are running.
func (c *crash) working() []string {
	names := strings.Fields(c.docker("ps", "--format", "{{.Names}}", "--filter", "label=assay.run="+c.run))
	slices.Sort(names)
	return names
}
