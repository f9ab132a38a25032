package launch

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/report/served"
	"assay/result"
)

// shellReads gives the words that a shell makes of a command line.
func shellReads(t testing.TB, command string) []string {
	t.Helper()
	out, err := exec.Command("sh", "-c", `words() { for word in "$@"; do printf '%s\0' "$word"; done; }; words `+command).Output()
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// A shell reads a command line as the words that were started.
func TestCommandIsReadByAShell(t *testing.T) {
	argv := []string{"vllm", "serve", "/model with space", `{"temperature": 1.0, "note": "it's"}`, "$HOME", "`id`", "a\nb", "*", "", "~", "-x=1;reboot", "é", "#no", "!!"}
	i := instance{Server: served.Server{Runtime: "process", Argv: argv}}
	if diff := cmp.Diff(argv, shellReads(t, i.command(false))); diff != "" {
		t.Error(diff)
	}
	i.Launch = &record{Asked: settings{Argv: argv, Dir: "/var/lib/it's", CPUs: "0-3", Env: map[string]string{"A": "b c", "HF_TOKEN": unrecorded}}}
	want := append([]string{"env", "-C", "/var/lib/it's", "A=b c", "taskset", "-c", "0-3"}, argv...)
	if diff := cmp.Diff(want, shellReads(t, i.command(false))); diff != "" {
		t.Error(diff)
	}
}

func TestContainersCommand(t *testing.T) {
	raw := `{"runtime":"docker","image":"a@sha256:01","argv":["x"],"launch":{"asked":{"image":"sha256:90","network":"bridge","port_bindings":[{"host_ip":"127.0.0.1","host_port":30000,"container_port":8000,"protocol":"tcp"},{"host_ip":"127.0.0.1","host_port":5353,"container_port":53,"protocol":"udp"}],"ipc":"private","shm_bytes":17179869184,
		"cpus":"0-3","memory_nodes":"0","user":"1000:1000","ulimits":{"nofile":"1024:2048","memlock":"-1:-1"},"privileged":true,"gpus":["GPU-1","GPU-2"],"bind_mounts":[{"source":"/a b","target":"/c"},{"source":"/ at /it, read-only","target":"/e","read_only":true}],
		"security_opt":["seccomp=(a profile of 9000 bytes)","label=disable"],"env":{"K":"v w","SECRET":"[not recorded]"}},"made":{"argv":["/entry.sh","serve","--x","1 2"]}}}`
	want := []string{"docker", "run", "--rm", "--init", "--network", "bridge", "-p", "127.0.0.1:30000:8000", "-p", "127.0.0.1:5353:53/udp", "--user", "1000:1000", "--ipc", "private", "--shm-size", "17179869184", "--cpuset-cpus", "0-3", "--cpuset-mems", "0",
		"--ulimit", "memlock=-1:-1", "--ulimit", "nofile=1024:2048", "--privileged", "--gpus", `"device=GPU-1,GPU-2"`, "--security-opt", "label=disable",
		"--mount", "type=bind,source=/a b,target=/c", "--mount", "type=bind,source=/ at /it, read-only,target=/e,readonly", "-e", "K=v w", "-e", "SECRET", "--entrypoint", "/entry.sh", "a@sha256:01", "serve", "--x", "1 2"}
	if diff := cmp.Diff(want, shellReads(t, read(json.RawMessage(raw)).command(false))); diff != "" {
		t.Error(diff)
	}
	if c := client(result.ClientIdentity{Kind: "aiperf", Runtime: "docker", Image: "aiperf@sha256:02", Argv: []string{"aiperf", "profile"}}).chapter("Client"); c.Label() != "Client, inside aiperf@sha256:02" || c.Command != "aiperf profile" {
		t.Errorf("%+v", c)
	}
	cdi := read(json.RawMessage(`{"runtime":"docker","image":"a@sha256:01","argv":["x"],"launch":{"asked":{"gpus":["all","nvidia.com/gpu=0"]},"made":{}}}`)).command(false)
	if want := []string{"docker", "run", "--rm", "--init", "--gpus", "all", "--device", "nvidia.com/gpu=0", "a@sha256:01", "x"}; !cmp.Equal(want, shellReads(t, cdi)) {
		t.Error(cdi)
	}
}

// An image that no registry has under the digest of the plan is named by its id.
func TestRunnableImage(t *testing.T) {
	for document, want := range map[string]string{
		`"image":"a@sha256:01","image_id":"sha256:01","image_facts":{"config_digest":"sha256:01"}`:                               "sha256:01",
		`"image":"a@sha256:01","image_id":"sha256:07","image_facts":{"config_digest":"sha256:01"}`:                               "sha256:07",
		`"image":"a@sha256:02","image_id":"sha256:01","image_facts":{"config_digest":"sha256:01","manifest_digest":"sha256:02"}`: "a@sha256:02",
		`"image":"a@sha256:02","image_id":"sha256:01","image_facts":{"file":"a.tar","config_digest":"sha256:01"}`:                "sha256:01",
		`"image":"a:1","image_id":"sha256:01","image_facts":{"unpinned":true,"config_digest":"sha256:01"}`:                       "a:1",
		`"image":"a@sha256:02"`: "a@sha256:02",
	} {
		got := shellReads(t, read(json.RawMessage(`{"runtime":"docker",`+document+`,"launch":{"asked":{"image":"sha256:09"},"made":{}}}`)).command(false))
		if !slices.Contains(got, want) {
			t.Errorf("%s: %q", document, got)
		}
	}
}

// A script of several goes on after each, and says which variables it needs.
func TestScriptOfSeveral(t *testing.T) {
	server := `{"runtime":"docker","image":"a@sha256:01","argv":["x"],"launch":{"asked":{"env":{"HF_TOKEN":"[not recorded]"}},"made":{}}}`
	program := `{"runtime":"process","argv":["serve"],"launch":{"asked":{"argv":["serve"],"env":{"A_KEY":"[not recorded]"}},"made":{}}}`
	r := result.Result{Identity: result.Identity{Server: json.RawMessage(`{"runtime":"docker","servers":[` + server + `,` + program + `]}`), Routers: []json.RawMessage{json.RawMessage(program)}}}
	want := "# Server 1 of 2; export HF_TOKEN first\ndocker run --rm --init \\\n  -d \\\n  -e HF_TOKEN \\\n  a@sha256:01 x\n# Server 2 of 2; export A_KEY first\nserve &\n# Router; export A_KEY first\nserve\n"
	if diff := cmp.Diff(want, Of(r).Script()); diff != "" {
		t.Error(diff)
	}
}

func FuzzQuote(f *testing.F) {
	for _, word := range []string{"", "a b", "it's", "$(id)", "\\", "\"", "\n"} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if strings.Contains(word, "\x00") {
			t.Skip("no word of a program has one")
		}
		if got := shellReads(t, Quote(word)); len(got) != 1 || got[0] != word {
			t.Errorf("%q is read as %q", word, got)
		}
	})
}

// Which router a point had is told by the configuration that was kept of it, then by its kind; two of one kind are told apart.
func TestPointsOfRouters(t *testing.T) {
	c := func(n int) *int { return &n }
	r := result.Result{Identity: result.Identity{Routers: []json.RawMessage{
		json.RawMessage(`{"runtime":"docker","image":"nginx@sha256:01","files":[{"path":"one.conf"}]}`), json.RawMessage(`{"runtime":"docker","image":"nginx@sha256:02","files":[{"path":"two.conf"}]}`),
		json.RawMessage(`{"runtime":"process","argv":["/usr/sbin/haproxy"],"binary_sha256":"ff"}`), json.RawMessage(`nonsense`),
	}}, Points: []result.Point{
		{ID: "c1", Concurrency: c(1), Router: "nginx", Routing: &result.Routing{Config: "one.conf"}}, {ID: "c2", Concurrency: c(2), Router: "nginx", Routing: &result.Routing{Config: "two.conf"}},
		{ID: "c4", Concurrency: c(4), Router: "haproxy", Routing: &result.Routing{}}, {ID: "c8", Concurrency: c(8), Router: "none"}, {ID: "c16", Concurrency: c(16), Router: "generic"},
	}}
	if diff := cmp.Diff([]string{"C1", "C2", "C4", ""}, RouterPoints(r)); diff != "" {
		t.Error(diff)
	}
	g := Of(r).Tables[0].Grid
	if len(g.Rows) != 4 || g.Rows[2].Cells[1].Text != "ff" || g.Rows[3].Label != "C16" {
		t.Errorf("%+v", g)
	}
}

// What nobody may rely on is told as that.
func TestImageVerified(t *testing.T) {
	for want, facts := range map[string]string{
		"not pinned: the plan has a tag, which may mean another image another time": `{"unpinned":true,"manifest_digest":"sha256:01"}`,
		"digests of the registry are not known: no RepoDigests":                     `{"unknown":"no RepoDigests","config_digest":"sha256:01"}`,
		"loaded from a.tar, and its digests are those of the plan":                  `{"file":"a.tar","manifest_digest":"sha256:01"}`,
		"the engine ran the image of this digest":                                   `{"manifest_digest":"sha256:01"}`,
		"": `{"config_digest":"sha256:01"}`,
	} {
		if got := read(json.RawMessage(`{"image_facts":` + facts + `}`)).verified(); got != want {
			t.Errorf("%s: %q, want %q", facts, got, want)
		}
	}
	for want, base := range map[string]string{
		"b@sha256:0: all 2 layers of it lie under the 3 of this image (told by the engine)": `{"image":"b@sha256:0","proved":true,"layers":["1","2"]}`,
		"not proved to be b@sha256:0: no layers are told":                                   `{"image":"b@sha256:0","unproved":"no layers are told"}`,
		"not b@sha256:0: only 1 of its 2 layers are the same":                               `{"image":"b@sha256:0","layers":["1","2"],"shared":1}`,
	} {
		i := read(json.RawMessage(`{"image_facts":{"layers":["1","2","3"],"base":` + base + `}}`))
		if got := i.Facts.builtFrom(); got != want {
			t.Errorf("%s: %q, want %q", base, got, want)
		}
	}
}
