package allow

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/fault"
	"assay/plan"
)

const digest = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// here resolves names as they are: in these tests nothing is a link unless a test makes one.
func here() Machine {
	return Machine{Closed: []Place{{"/var/lib/assay", "the data directory"}, {"/srv/other.sock", "the engine"}}, Resolve: func(name string) (string, error) { return filepath.Clean(name), nil }}
}

func docker(change func(*plan.Server)) plan.Plan {
	p := plan.Plan{Model: plan.Model{Name: "m"}, Server: plan.Server{Engine: "vllm", Runtime: "docker", Image: "vllm/vllm-openai" + digest}}
	if change != nil {
		change(&p.Server)
	}
	return p
}

func mount(source string, writable bool) plan.Plan {
	return docker(func(s *plan.Server) { s.Mounts = []plan.Mount{{Source: source, Target: "/x", Writable: writable}} })
}

func process(engine string, command []string, args ...string) plan.Plan {
	return plan.Plan{Server: plan.Server{Engine: engine, Runtime: "process", Command: command, Args: args}}
}

func at(url string) plan.Plan {
	return plan.Plan{Server: plan.Server{Engine: "openai", Runtime: "endpoint", URL: url}}
}

func routed(r plan.Router) plan.Plan {
	p := at("http://127.0.0.1:8000")
	p.Routers = []plan.Router{r}
	return p
}

func by(k plan.Client) plan.Plan {
	p := at("http://127.0.0.1:8000")
	p.Client = k
	return p
}

func withModel(path string) plan.Plan {
	p := docker(nil)
	p.Model.Path = path
	return p
}

func withData(path string) plan.Plan {
	p := docker(nil)
	p.Workload.Dataset.Path = path
	return p
}

// TestDefaults: what a token holder may have of a machine whose owner wrote nothing. says is a part of the hint or the text; "" passes.
func TestDefaults(t *testing.T) {
	for name, c := range map[string]struct {
		plan plan.Plan
		says string
	}{
		"an image by digest":             {docker(nil), ""},
		"the simulated engine":           {process("sim", nil, "--ready-after", "1s"), ""},
		"which writes a file":            {process("sim", nil, "--truth", "/etc/cron.d/x"), "never"},
		"which writes a file, glued":     {process("sim", nil, "--truth=/etc/cron.d/x"), "never"},
		"any command":                    {process("sim", []string{"/bin/sh", "-c", "id"}), `commands: ["/bin/sh -c id"]`},
		"an engine's program":            {process("vllm", nil), `commands: ["vllm serve"]`},
		"a server on the loopback":       {at("http://127.0.0.1:8000"), ""},
		"by name":                        {at("http://LOCALHOST.:8000/v1"), ""},
		"over IPv6":                      {at("http://[::1]:8000"), ""},
		"mapped":                         {at("http://[::ffff:127.0.0.1]:8000"), ""},
		"the cloud's metadata":           {at("http://169.254.169.254/latest"), `endpoints: ["169.254.169.254"]`},
		"a name like the loopback":       {at("http://localhost.example.org"), "endpoints"},
		"the engine's socket as server":  {at("unix:///var/run/docker.sock"), "never"},
		"another socket":                 {at("unix:///run/other.sock"), `endpoints: ["unix:///run/other.sock"]`},
		"nginx":                          {routed(plan.Router{Kind: "nginx"}), ""},
		"another program as nginx":       {routed(plan.Router{Kind: "nginx", Command: []string{"/bin/sh"}}), `commands: ["/bin/sh"]`},
		"any router":                     {routed(plan.Router{Kind: "generic", Command: []string{"/bin/sh"}}), "commands"},
		"a router that loads another":    {routed(plan.Router{Kind: "generic", Command: []string{"/opt/r"}, Env: map[string]string{"LD_PRELOAD": "/x.so"}}), "never"},
		"no router":                      {routed(plan.Router{Kind: "none"}), ""},
		"the client itself":              {by(plan.Client{Kind: "native"}), ""},
		"another client":                 {by(plan.Client{Kind: "aiperf"}), `commands: ["aiperf"]`},
		"another client's image":         {by(plan.Client{Kind: "aiperf", Runtime: "docker", Image: "x/y" + digest}), "host_network: true"},
		"a router's image":               {routed(plan.Router{Kind: "nginx", Image: "x/y" + digest}), "host_network: true"},
		"the second of several servers":  {plan.Plan{Server: plan.Server{Engine: "openai", Runtime: "endpoint", URLs: []string{"http://127.0.0.1:1", "http://10.0.0.1:1"}}}, `endpoints: ["10.0.0.1"]`},
		"an image's file":                {docker(func(s *plan.Server) { s.ImageFile = "/home/x/image.tar" }), `mounts: ["/home/x/image.tar"]`},
		"its tokenizer on disk":          {by(plan.Client{Kind: "aiperf", Runtime: "docker", Image: "x/y" + digest, Tokenizer: "../etc"}), "never"},
		"a mount":                        {mount("/models", false), `mounts: ["/models"]`},
		"the root":                       {mount("/", false), "never"},
		"the root by dots":               {mount("/models/../..", false), "never"},
		"/proc":                          {mount("/proc/1/root", false), "never"},
		"/sys":                           {mount("/sys", true), "never"},
		"/etc, writable":                 {mount("/etc", true), "never"},
		"cron, writable":                 {mount("/etc/cron.d", true), "never"},
		"the data directory":             {mount("/var/lib/assay/runs", false), "never"},
		"what holds the data directory":  {mount("/var/lib", false), "never"},
		"the engine's socket":            {mount("/var/run/docker.sock", false), "never"},
		"what holds the engine's socket": {mount("/var/run", false), "never"},
		"the engine's data":              {mount("/var/lib/docker/volumes", false), "never"},
		"the model":                      {withModel("/models/a"), `mounts: ["/models/a"]`},
		"the model by the root":          {withModel("/snapshots/x"), "never"},
		"data":                           {withData("/etc/shadow"), "it is the passwords of this machine's users (/etc/shadow), which is never allowed"},
		"a token of the machine":         {plan.Plan{Server: plan.Server{Runtime: "endpoint", URL: "http://127.0.0.1:1", TokenFile: "/root/token"}}, "mounts"},
		"a variable":                     {plan.Plan{Server: plan.Server{Runtime: "endpoint", URL: "http://127.0.0.1:1", TokenEnv: "AWS_SECRET"}}, `variables: ["AWS_SECRET"]`},
		"a variable of a header":         {by(plan.Client{HeadersEnv: map[string]string{"X": "KEY"}}), `variables: ["KEY"]`},
		"a device":                       {docker(func(s *plan.Server) { s.Devices = []string{"/dev/sda"} }), `devices: ["/dev/sda"]`},
		"all devices":                    {docker(func(s *plan.Server) { s.Devices = []string{"/dev"} }), "never"},
		"the memory":                     {docker(func(s *plan.Server) { s.Devices = []string{"/dev/mem"} }), "never"},
		"a capability":                   {docker(func(s *plan.Server) { s.Capabilities = []string{"cap_sys_admin"} }), `capabilities: ["SYS_ADMIN"]`},
		"no seccomp":                     {docker(func(s *plan.Server) { s.SecurityOpt = []string{"seccomp=unconfined"} }), "security_opt"},
		"no new privileges":              {docker(func(s *plan.Server) { s.SecurityOpt = []string{"no-new-privileges"} }), ""},
		"privileged":                     {docker(func(s *plan.Server) { s.Privileged = true }), "privileged: true"},
		"the host's network":             {docker(func(s *plan.Server) { s.Network = "host" }), "host_network: true"},
		"the host's memory":              {docker(func(s *plan.Server) { s.IPC = "host" }), "host_ipc: true"},
	} {
		t.Run(name, func(t *testing.T) { expect(t, Check(Default(), c.plan, here()), c.says) })
	}
}

func expect(t *testing.T, err error, says string) {
	t.Helper()
	if says == "" {
		if err != nil {
			t.Errorf("refused: %v", err)
		}
		return
	}
	if err == nil {
		t.Fatal("allowed")
	}
	f := fault.Of(err, fault.Store)
	if f.Code != "plan.not_allowed" || !strings.Contains(f.Text+"\n"+f.Hint, says) || f.Hint == "" {
		t.Errorf("%s: %s\n%s\nwant %q", f.Code, f.Text, f.Hint, says)
	}
}

// TestList: what the owner wrote is allowed, and nothing beside it.
func TestList(t *testing.T) {
	l := List{
		Images: []string{"vllm/vllm-openai", "lab.example/ours/*", "sha256:" + digest[8:]}, Runtimes: []string{"docker", "endpoint", "process"},
		Mounts: []string{"/models", "/data/sets/"}, Writable: []string{"/models/cache", "/scratch"}, Devices: []string{"/dev/infiniband"},
		Capabilities: []string{"CAP_IPC_LOCK"}, SecurityOpt: []string{"seccomp=unconfined"}, Commands: []string{"python3 -m vllm.serve", "/opt/x"},
		Endpoints: []string{"gpu7", "*.lab.example", "10.0.0.0/8", "unix:///run/x.sock"}, Variables: []string{"HF_TOKEN"}, HostNetwork: true, HostIPC: true, Privileged: true,
	}
	image := func(ref string) plan.Plan { return docker(func(s *plan.Server) { s.Image = ref }) }
	for name, c := range map[string]struct {
		plan plan.Plan
		says string
	}{
		"the image":                     {image("vllm/vllm-openai" + digest), ""},
		"in full":                       {image("docker.io/vllm/vllm-openai:v1" + digest), ""},
		"Docker Hub's other name":       {image("INDEX.docker.io/vllm/vllm-openai" + digest), ""},
		"another registry's":            {image("evil.example/vllm/vllm-openai:v1"), `images: ["evil.example/vllm/vllm-openai"]`},
		"another tag, no digest":        {image("vllm/vllm-openai:latest"), ""},
		"longer":                        {image("vllm/vllm-openai-x:1"), "images"},
		"other case":                    {image("vllm/VLLM-openai:1"), "images"},
		"with a user":                   {image("vllm/vllm-openai@evil.example/x:1"), "never"},
		"of the folder":                 {image("lab.example/ours/a/b:1"), ""},
		"of the registry in capitals":   {image("LAB.example/ours/a:1"), ""},
		"beside the folder":             {image("lab.example/ours-not/a:1"), "images"},
		"out of the folder":             {image("lab.example/ours/../theirs:1"), "never"},
		"its base, another's":           {docker(func(s *plan.Server) { s.BaseImage = "evil.example/x:1" }), `images: ["evil.example/x"]`},
		"by digest alone":               {image("evil.example/x" + digest), ""},
		"another digest":                {image("evil.example/x@sha256:" + strings.Repeat("0", 64)), "images"},
		"a model":                       {withModel("/models/a"), ""},
		"all parts of one":              {withModel("/models/m-00001-of-00002.gguf"), ""},
		"beside":                        {withModel("/models2"), "mounts"},
		"in the folder that is written": {withModel("/models/cache/x"), "never"},
		"which may be mounted as such":  {mount("/models/cache", false), ""},
		"and written":                   {mount("/models/cache/", true), ""},
		"but not a folder of it":        {mount("/models/cache/a", true), "writable_mounts"},
		"nor the models":                {mount("/models", true), `writable_mounts: ["/models"]`},
		"data":                          {withData("/data/sets/a.jsonl"), ""},
		"data by dots":                  {withData("/data/sets/../../etc/passwd"), `mounts: ["/etc/passwd"]`},
		"relative":                      {withData("sets/a"), "never"},
		"a command":                     {process("vllm", []string{"python3", "-m", "vllm.serve", "--x"}), ""},
		"another module":                {process("vllm", []string{"python3", "-m", "http.server"}), "commands"},
		"a shorter one":                 {process("vllm", []string{"python3"}), "commands"},
		"one glued":                     {process("vllm", []string{"python3 -m vllm.serve"}), "commands"},
		"its loader":                    {plan.Plan{Server: plan.Server{Engine: "vllm", Runtime: "process", Command: []string{"/opt/x"}, Env: map[string]string{"LD_PRELOAD": "/x.so"}}}, "never"},
		"its loader, simulated":         {plan.Plan{Server: plan.Server{Engine: "sim", Runtime: "process", Env: map[string]string{"LD_PRELOAD": "/x.so"}}}, "never"},
		"a host":                        {at("http://gpu7:8000"), ""},
		"a domain":                      {at("https://a.b.LAB.example"), ""},
		"the domain's end alone":        {at("https://evil-lab.example"), "endpoints"},
		"a network":                     {at("http://10.1.2.3"), ""},
		"beside the network":            {at("http://11.1.2.3"), "endpoints"},
		"not the loopback now":          {at("http://127.0.0.1"), "endpoints"},
		"a socket":                      {at("unix:///run/x.sock"), ""},
		"a variable":                    {plan.Plan{Server: plan.Server{Runtime: "endpoint", URL: "http://gpu7", EnvFrom: []string{"HF_TOKEN"}}}, ""},
		"the rights": {docker(func(s *plan.Server) {
			s.Devices, s.Capabilities, s.SecurityOpt = []string{"/dev/infiniband/uverbs0"}, []string{"IPC_LOCK"}, []string{"seccomp=unconfined"}
			s.Network, s.IPC, s.Privileged = "host", "host", true
		}), ""},
		"never, whatever the list": {mount("/var/lib/assay", false), "never"},
	} {
		t.Run(name, func(t *testing.T) { expect(t, Check(l, c.plan, here()), c.says) })
	}
	l.Mounts, l.Writable = []string{"/"}, []string{"/", "/etc"}
	for _, name := range []string{"/", "/proc", "/sys/fs", "/etc", "/var/run/docker.sock", "/var/lib/assay/key"} {
		expect(t, Check(l, mount(name, true), here()), "never")
	}
}

// TestRuntimes: of what the owner left out nothing is started, whatever it is for.
func TestRuntimes(t *testing.T) {
	for name, p := range map[string]plan.Plan{
		"docker": docker(nil), "process": process("sim", nil), "endpoint": at("http://127.0.0.1:8000"), "process of a router": routed(plan.Router{Kind: "nginx"}),
		"docker of a router": routed(plan.Router{Kind: "nginx", Image: "x/y" + digest}), "process of any router": routed(plan.Router{Kind: "generic", Command: []string{"/opt/r"}}),
		"process of a client": by(plan.Client{Kind: "aiperf", Runtime: "process", Command: []string{"aiperf"}}), "docker of a client": by(plan.Client{Kind: "aiperf", Image: "x/y" + digest}),
	} {
		t.Run(name, func(t *testing.T) {
			l := Default()
			l.HostNetwork, l.Commands = true, []string{"aiperf", "/opt/r"}
			expect(t, Check(l, p, here()), "")
			without, _, _ := strings.Cut(name, " ")
			l.Runtimes = slices.DeleteFunc(l.Runtimes, func(r string) bool { return r == without })
			expect(t, Check(l, p, here()), `runtimes: ["`+without+`"]`)
		})
	}
}

// TestLinks: what counts is where a name leads.
func TestLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	models := filepath.Join(dir, "models")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(models, "real"), 0o755), os.Mkdir(filepath.Join(dir, "data"), 0o700), os.Symlink("/", filepath.Join(models, "root")),
		os.Symlink("../data", filepath.Join(models, "up")), os.Symlink("real", filepath.Join(models, "inside")), os.Symlink(models, filepath.Join(dir, "alias")),
		os.Symlink("loop", filepath.Join(models, "loop")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	l := Default()
	l.Mounts = []string{filepath.Join(dir, "alias")} // the owner may name a link
	m := Machine{Closed: []Place{{filepath.Join(dir, "data"), "the data directory"}}, Resolve: filepath.EvalSymlinks}
	for name, says := range map[string]string{
		"models/real": "", "models/inside": "", "alias/real": "", "alias": "", "models/not-yet": "",
		"models/root": "never", "models/root/etc": "never", "models/up": "never", "models/up/x": "never", "models/loop": "never", "models/loop/x": "never", "models/root/proc/1": "never",
	} {
		t.Run(name, func(t *testing.T) { expect(t, Check(l, mount(filepath.Join(dir, name), false), m), says) })
	}
}

// FuzzMount: whatever is written, what passes lies in the list.
func FuzzMount(f *testing.F) {
	for _, name := range []string{"/models/a", "/models/../etc", "/models/./..//x", "//models", "/models\x00/x", "/Models", "/models/", "models"} {
		f.Add(name, false)
	}
	l := Default()
	l.Mounts, l.Writable = []string{"/models"}, []string{"/scratch"}
	f.Fuzz(func(t *testing.T, name string, writable bool) {
		if Check(l, mount(name, writable), here()) != nil {
			return
		}
		clean := filepath.Clean(name)
		if inside := clean == "/models" || strings.HasPrefix(clean, "/models/"); clean != "/scratch" && (writable || !inside) {
			t.Errorf("%q passes", name)
		}
	})
}

// FuzzImage: what passes a repository's name is that repository, for the engine's own reading of it.
func FuzzImage(f *testing.F) {
	for _, ref := range []string{"vllm/vllm-openai", "vllm/vllm-openai" + digest, "a@b@c", "x:5000/vllm/vllm-openai", "docker.io/vllm/vllm-openai:t", "vllm//vllm-openai", "user:pw@vllm/vllm-openai"} {
		f.Add(ref)
	}
	l := Default()
	l.Images = []string{"vllm/vllm-openai"}
	f.Fuzz(func(t *testing.T, ref string) {
		if Check(l, docker(func(s *plan.Server) { s.Image = ref }), here()) != nil {
			return
		}
		name, _, _ := strings.Cut(ref, "@")
		for _, host := range []string{"docker.io/", "index.docker.io/", "registry-1.docker.io/"} {
			if len(name) > len(host) && strings.EqualFold(name[:len(host)], host) {
				name = name[len(host):]
			}
		}
		if repository, _, _ := strings.Cut(name, ":"); repository != "vllm/vllm-openai" {
			t.Errorf("%q passes", ref)
		}
	})
}

// TestDocument: every key of the list stands in the document, with its default.
func TestDocument(t *testing.T) {
	b, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[List]()) {
		key := f.Tag.Get("yaml")
		if !regexp.MustCompile("(?m)^\\|.*`" + key + "`.*\\|").Match(b) {
			t.Errorf("docs/security.md does not tell of %q", key)
		}
	}
}
