package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"assay/report/launch"
	"assay/result"
)

const (
	serverImage  = "lab/vllm-rocm@sha256:4c1de0b6a1fd3f5d8be6f0f5d8b6b6f3a0b9d95a3f6c2f3a5f0e9a7c1b2d3e4f"
	nginxImage   = "nginx@sha256:65645c7bb6a0661892a8b03b89d0743208a18dd2f3f17a54ef4b76fb8e2f2a10"
	haproxyImage = "haproxy@sha256:e3229153dd6429fc71f8a9a1f1ccbf8dab6962422d7043c81e84dd6a075e90ee"
	baseImage    = "vllm/vllm-openai-rocm@sha256:e7d4d8643501172acc5e9a6fcc3739680359613c2904ec977cde9e721e798e82"
)

// launchedServer is a server in a container of eight GPUs, its image built from another.
func launchedServer() json.RawMessage {
	asked := `{"image":"sha256:90aa12","argv":["vllm","serve","/model","--tensor-parallel-size","8","--override-generation-config","{\"temperature\": 1.0}"],` +
		`"env":{"HF_TOKEN":"[not recorded]","VLLM_ROCM_USE_AITER":"1"},"network":"host","ipc":"host","mounts":["/mnt/llm_data/dsv41f at /model, read-only"],"bind_mounts":[{"source":"/mnt/llm_data/dsv41f","target":"/model","read_only":true}],` +
		`"ulimits":{"memlock":"-1:-1"},"devices":["/dev/dri","/dev/kfd"],"groups":["109","44"],"capabilities":["SYS_PTRACE"],"security_opt":["seccomp=unconfined"]}`
	var gpus []string
	for i, bus := range []string{"1b", "3d", "4e", "5f", "9d", "bd", "cd", "dd"} {
		gpus = append(gpus, fmt.Sprintf(`{"index":%d,"vendor":"amd","pci":"0000:%s:00.0"}`, i, bus))
	}
	return json.RawMessage(`{"role":"server","runtime":"docker","name":"assay-01k8n3v0d2m7q-server","image":"` + serverImage + `","image_id":"sha256:90aa12",` +
		`"image_facts":{"requested":"` + serverImage + `","pinned":"` + serverImage + `","manifest_digest":"sha256:4c1de0b6a1fd3f5d8be6f0f5d8b6b6f3a0b9d95a3f6c2f3a5f0e9a7c1b2d3e4f","config_digest":"sha256:90aa12","id":"sha256:90aa12",` +
		`"os":"linux","architecture":"amd64","layers":["sha256:01","sha256:02","sha256:03"],"created":"2026-10-23T08:11:00Z","size_bytes":41234567890,` +
		`"base":{"image":"` + baseImage + `","proved":true,"layers":["sha256:01","sha256:02"],"shared":2,"told_by":"registry"}},` +
		`"argv":["vllm","serve","/model","--tensor-parallel-size","8"],"version":"0.31.1rc1+5555a2d8f","models":["deepseek-ai/DeepSeek-V4.1-Flash-1017"],"max_model_len":131072,"kv_tokens":9437184,` +
		`"launch":{"gpus":[` + strings.Join(gpus, ",") + `],"gpu_access":"device files","asked":` + asked + `,"made":` + asked + `,"file":"server.inspect.json"},` +
		`"start":{"stages":[{"name":"process up","seconds":0.4},{"name":"port","seconds":612.5},{"name":"health","seconds":1.2},{"name":"model listed","seconds":0.1},{"name":"token","seconds":9.4}]}}`)
}

func launchedRouter(kind, image, version, config string) json.RawMessage {
	asked := `{"image":"sha256:11bb","network":"host","mounts":["/var/lib/assay/runs/01k8n3v0d2m7q/` + config + ` at /etc/` + kind + `/` + kind + `.conf, read-only"],"bind_mounts":[{"source":"/var/lib/assay/runs/01k8n3v0d2m7q/` + config + `","target":"/etc/` + kind + `/` + kind + `.conf","read_only":true}],"ulimits":{"nofile":"26624:26624"}}`
	made := strings.Replace(asked, `"network"`, `"argv":["`+kind+`","-g","daemon off;"],"network"`, 1)
	return json.RawMessage(`{"role":"router","runtime":"docker","name":"assay-01k8n3v0d2m7q-router","image":"` + image + `","image_id":"sha256:11bb",` + version + `"image_facts":{"requested":"` + image + `","manifest_digest":"` + strings.Split(image, "@")[1] + `","os":"linux","architecture":"amd64","layers":["sha256:0a"]},` +
		`"launch":{"asked":` + asked + `,"made":` + made + `},"files":[{"path":"` + config + `","sha256":"5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8"}]}`)
}

// routing is what is found of a router of a point.
func routing(config string, started bool, concurrency int) *result.Routing {
	return &result.Routing{
		Config: config, SHA256: "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8", Started: started, Headers: []string{"X-Session-ID"}, Servers: 1, DurationS: 1.9,
		FirstByte:   &result.RoutedFirstByte{DirectMS: 31.02, RouterMS: 31.37, CostMS: 0.35, Tries: 15},
		Body:        &result.RoutedBody{Bytes: 32 << 20, Status: 400, Direct: 400, Accepted: true},
		Connections: &result.RoutedConnections{Asked: concurrency + concurrency/10, Held: concurrency + concurrency/10},
	}
}

// launched adds to a run what is recorded of its launching.
func launched(r *result.Result) {
	r.Identity.Server = launchedServer()
	r.Identity.Routers = []json.RawMessage{launchedRouter("nginx", nginxImage, `"version":"1.27.5",`, "router-c32.conf"),
		launchedRouter("haproxy", haproxyImage, `"version_unknown":"haproxy is not there",`, "router-c512.conf")}
	for i := range r.Points {
		p := &r.Points[i]
		config := "router-c32.conf"
		if p.Router == "haproxy" {
			config = "router-c512.conf"
		}
		p.Routing = routing(config, i == 0 || i == len(r.Points)-1, *p.Concurrency)
	}
	end := r.Run.EndedUS
	r.Stops = []result.Stop{
		{Role: "router", Name: "assay-01k8n3v0d2m7q-router", How: result.StopGraceful, AskedBy: result.AskedForNext, AskedUS: end - 11e9, TookS: 0.2, ExitCode: ptr(0), Text: "exited with code 0"},
		{Role: "router", Name: "assay-01k8n3v0d2m7q-router", How: result.StopGraceful, AskedBy: result.AskedAtEnd, AskedUS: end - 9e6, TookS: 0.3, ExitCode: ptr(0), Text: "exited with code 0"},
		{Role: "server", Name: "assay-01k8n3v0d2m7q-server", How: result.StopGraceful, AskedBy: result.AskedAtEnd, AskedUS: end - 8e6, TookS: 6.41, ExitCode: ptr(0), Text: "exited with code 0"},
	}
	r.GPUMemory = &result.Release{WaitedS: 2.5}
	for _, bus := range []string{"1b", "3d", "4e", "5f", "9d", "bd", "cd", "dd"} {
		r.GPUMemory.Devices = append(r.GPUMemory.Devices, result.ReleasedDevice{Device: "0000:" + bus + ":00.0", BeforeBytes: ptr(int64(297 << 20)), AfterBytes: ptr(int64(297 << 20))})
	}
}

// badlyLaunched has two servers behind a router that lost sessions, one of which was given fewer rights than asked, died, and left memory behind.
func badlyLaunched(r *result.Result) {
	member := func(n int, differs string) string {
		asked := fmt.Sprintf(`{"image":"sha256:90aa12","argv":["vllm","serve","/model"],"network":"bridge","ports":["127.0.0.1:3000%[1]d to 8000"],"port_bindings":[{"host_ip":"127.0.0.1","host_port":3000%[1]d,"container_port":8000,"protocol":"tcp"}],"ulimits":{"memlock":"-1:-1"},"cpus":"%[2]d-%[3]d","memory_nodes":"%[4]d"}`, n, 40*n, 40*n+39, n)
		return fmt.Sprintf(`{"role":"server-%d","runtime":"docker","name":"assay-01k8n3v0d2m7q-server-%d","image":"`+serverImage+`","image_id":"sha256:90aa12","argv":["vllm","serve","/model"],"launch":{"gpus":[{"index":%d,"pci":"0000:%d1:00.0"}],"gpu_access":"device files","asked":%s,"made":%s%s}}`, n, n, n, n+1, asked, asked, differs)
	}
	r.Identity.Server = json.RawMessage(`{"role":"server","runtime":"docker","image":"` + serverImage + `","image_id":"sha256:90aa12","version":"0.31.1rc1+5555a2d8f","servers":[` + member(0, "") + "," +
		member(1, `,"differs":["limit memlock in the kernel: \"-1:-1\" was asked for, it is \"65536:65536\""]`) + `]}`)
	r.Identity.Client = result.ClientIdentity{Kind: "aiperf", Version: "0.4.0", Runtime: "process", Argv: []string{"/opt/aiperf/bin/aiperf", "profile"}, SHA256: "ab54d286474f3bafd6c5a7cbd1cb9c6d0f4a5b3f29cd5bbdb2d9d5fce0b4cd11"}
	for i := range r.Points {
		if p := &r.Points[i]; p.Routing != nil {
			p.Routing.Servers = 2
			p.Routing.Sessions = &result.RoutedSessions{By: "counters", Sessions: 24, Turns: 3, Moved: i % 2, PerServer: map[string]int{"server-0": 13, "server-1": 11}, BusiestOverMean: 1.0833}
			p.Routing.Load = &result.RoutedLoad{Unit: "generation_tokens", PerServer: map[string]int64{"server-0": 8_400_120, "server-1": 7_798_570}, BusiestOverMean: 1.0371}
			p.Routing.Notes = []string{"connections: 3 of 35 were refused by the system"}
		}
	}
	r.Stops = []result.Stop{
		{Role: "server-1", Name: "assay-01k8n3v0d2m7q-server-1", How: result.StopByItself, ExitCode: ptr(137), Signal: "SIGKILL", OOMKilled: true, Text: "killed by the kernel for want of memory"},
		{Role: "server-0", Name: "assay-01k8n3v0d2m7q-server-0", How: result.StopKilled, AskedBy: result.AskedOnFailure, AskedUS: r.Run.EndedUS - 41e6, TookS: 30.2, ExitCode: ptr(137), Signal: "SIGKILL", Text: "killed after its grace of 30 s"},
	}
	r.GPUMemory = &result.Release{WaitedS: 60, Devices: []result.ReleasedDevice{{Device: "0000:11:00.0", BeforeBytes: ptr(int64(297 << 20)), AfterBytes: ptr(int64(181 << 30))}, {Device: "0000:21:00.0"}},
		Marks: []result.Mark{{State: result.NodeDirty, Code: result.MarkMemoryHeld, Device: "0000:11:00.0", Text: "accelerator 0000:11:00.0 still holds 180.7 GiB", Evidence: "pid 4711 VLLM::Worker", Hint: "end that process, then look again"}}}
}

// A reader finds which image ran by its digest, which router with which digest at which points, and how each was verified.
func TestLaunchIsTold(t *testing.T) {
	for _, f := range []Format{htmlFormat(), textFormat(), markdownFormat()} {
		page := string(write(t, f, inputNamed(t, "sweep")))
		plain := strings.NewReplacer("\\_", "_", "&#43;", "+", "&#34;", `"`, "\n                            ", " ").Replace(page)
		for _, want := range []string{serverImage, nginxImage, haproxyImage, baseImage, "all 2 layers of it lie under the 3 of this image", "C32 to C384, 6 points", "at C512", "the engine ran the image of this digest", "version 1.27.5", "not known: haproxy is not there",
			"router-c32.conf", "35 of 35", "563 of 563", "31.02 +0.35", "process up 400 ms", "2026-10-23", "6.41", "next router", "exited with code 0"} {
			if !strings.Contains(strings.ToLower(plain), strings.ToLower(want)) {
				t.Errorf("%s: no %q", f.Name, want)
			}
		}
		bad := strings.ReplaceAll(string(write(t, f, inputNamed(t, "not_valid"))), "\\_", "_")
		for _, want := range []string{"erver 2 of 2", "65536:65536", "23 of 24", "still holds 180.7 GiB", "by itself", "aiperf profile", "C512: connections: 3 of 35"} {
			if !strings.Contains(strings.ReplaceAll(bad, "ERVER 2 OF 2", "erver 2 of 2"), want) {
				t.Errorf("%s: no %q", f.Name, want)
			}
		}
	}
	if s := launch.Of(failedInput().Result); !s.Empty() {
		t.Errorf("a run that started nothing: %+v", s)
	}
}
