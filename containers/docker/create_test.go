package docker

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"

	"assay/containers/affinity"
	"assay/containers/enginetest"
	"assay/containers/gpu"
	"assay/containers/imagetest"
	"assay/containers/instance"
	"assay/containers/instancetest"
	"assay/containers/launch"
	"assay/containers/limits"
	"assay/containers/socket"
)

func TestContainerConfig(t *testing.T) {
	s := instance.Spec{Owner: "owner1", Run: "run1", Role: "server", Image: "engine@" + digest, Argv: []string{"python3"}, Args: []string{"--port", "8000"},
		Env: map[string]string{"B": "2", "A": "1"}, Mounts: []instance.Mount{{Source: "/m", Target: "/model"}, {Source: "/c", Target: "/cache", Writable: true}},
		ShmBytes: 1 << 30, Port: 8000, HostPort: 30000}
	type both struct{ Config, Host any }
	got := map[string]both{}
	add := func(name string, s instance.Spec, terms launch.Terms) {
		cfg, host := containerConfig(s, terms)
		got[name] = both{cfg, host}
	}
	add("bridge", s, launch.Terms{})
	add("amd", s, launch.Terms{GPUs: gpu.Access{Devices: []string{"/dev/kfd", "/dev/dri/renderD128"}, Groups: []string{"109", "44"}, Ptrace: true}})
	s.HostNet = true
	add("host network, nvidia", s, launch.Terms{GPUs: gpu.Access{Requests: []container.DeviceRequest{{Driver: "nvidia", DeviceIDs: []string{"GPU-1"}}}}})
	add("host network, no GPUs of an engine with a runtime for them", s, launch.Terms{Engine: limits.Engine{NVIDIA: true}})
	s.Rights = instance.Rights{IPC: "host", User: "1000:1000", Privileged: true}
	add("rights", s, launch.Terms{Place: affinity.Place{CPUs: []int{0, 1, 2, 8}, Nodes: []int{1}}, Given: limits.Given{
		Ulimits: []*container.Ulimit{{Name: "memlock", Soft: -1, Hard: -1}}, Devices: []string{"/dev/infiniband/uverbs0"},
		Capabilities: []string{"IPC_LOCK"}, SecurityOpt: []string{"label=disable"}}})
	enginetest.GoldenJSON(t, "container_configs.json", got)
}

// TestGivenUpWhileCreated: the caller gives up while the engine creates the container. The engine goes on, and nothing of it is left.
func TestGivenUpWhileCreated(t *testing.T) {
	imagetest.NeedDocker(t)
	s, _ := instancetest.Prepare(t, Here(), sleeperSpec(t, imagetest.ProgramImage(t, "sleep"), nil))
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	r := Runtime{At: socket.At(Before(t, imagetest.Socket(), func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/containers/create") {
			giveUp()
			*r = *r.WithContext(context.WithoutCancel(r.Context()))
		}
		return false
	}))}
	if _, err := r.Start(ctx, s); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if left := imagetest.ContainersOf(t, s.Owner); left != "" {
		t.Errorf("left behind: %s", left)
	}
}
