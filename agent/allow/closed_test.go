package allow

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/fault"
	"assay/plan"
)

// TestClosedPlaces: whatever the list says, a guest gets no engine, no credentials and nothing that holds them, reads why, and no hint offers it.
func TestClosedPlaces(t *testing.T) {
	l := Default()
	l.Mounts, l.Writable, l.Devices = []string{"/"}, []string{"/run", "/root", "/home", "/scratch"}, []string{"/"}
	l.Endpoints = []string{"*", "unix:///run/podman/podman.sock", "unix:///run/docker.sock"}
	for path, why := range map[string]string{
		"/":                                    "it is the whole disk",
		"/run":                                 "it holds a socket of a container engine (/run/docker.sock)",
		"/run/docker.sock":                     "it is a socket of a container engine",
		"/var/run/docker.sock":                 "it is a socket of a container engine",
		"/var/run":                             "it holds a socket of a container engine",
		"/run/podman/podman.sock":              "it lies in a socket of a container engine (/run/podman)",
		"/run/containerd/containerd.sock":      "it lies in a socket of a container engine",
		"/run/containerd":                      "it is a socket of a container engine",
		"/run/crio/crio.sock":                  "it lies in a socket of a container engine",
		"/run/user":                            "it holds a socket of a container engine",
		"/run/user/1000":                       "it holds a socket of a container engine",
		"/run/user/1000/podman":                "it is a socket of a container engine",
		"/run/user/0/docker.sock":              "it is a socket of a container engine",
		"/run/user/7/containers/auth.json":     "it lies in the credentials of registries",
		"/run/systemd/private":                 "it lies in a socket by which the system is ruled",
		"/root":                                "it holds",
		"/root/.docker":                        "it is the credentials of registries",
		"/root/.docker/config.json":            "it lies in the credentials of registries",
		"/home":                                "it holds",
		"/home/a":                              "it holds",
		"/home/a/.config/containers/auth.json": "it lies in the credentials of registries",
		"/home/a/.config":                      "it holds the credentials of registries",
		"/srv/b/.docker/config.json":           "it lies in .docker, where people keep credentials",
		"/srv/b/.ssh":                          "it lies in .ssh",
		"/etc":                                 "it holds",
		"/etc/shadow":                          "it is the passwords of this machine's users",
		"/var":                                 "it holds",
		"/var/lib":                             "it holds",
		"/var/lib/docker/volumes":              "it lies in what a container engine keeps",
		"/var/lib/assay/key":                   "it lies in the data directory (/var/lib/assay)",
		"/srv":                                 "it holds the engine (/srv/other.sock)",
		"/dev":                                 "it holds the memory of the machine",
		"/proc/1/root":                         "it lies in the kernel's view",
	} {
		t.Run(path, func(t *testing.T) {
			for at, p := range map[string]plan.Plan{"mount": mount(path, false), "writable": mount(path, true), "data": withData(path),
				"device": docker(func(s *plan.Server) { s.Devices = []string{path} }), "socket": at("unix://" + path)} {
				err := Check(l, p, here())
				f := fault.Of(err, fault.Store)
				if f == nil || f.Code != "plan.not_allowed" || !strings.Contains(f.Text, why) || !strings.Contains(f.Text, "never allowed over the network") {
					t.Errorf("%s: %v", at, err)
					continue
				}
				if strings.Contains(f.Hint, "[") {
					t.Errorf("%s: the hint offers it: %s", at, f.Hint)
				}
			}
		})
	}
	l.Writable = nil
	for _, path := range []string{"/home/a/models", "/root/models/x", "/run/model", "/var/lib/models", "/srv/models", "/home/.docker-images/x", "/runner", "/run/user/1000/models"} {
		expect(t, Check(l, mount(path, false), here()), "")
	}
}

// TestClosedByALink: a closed place is known by where it really is, and its name is no pattern.
func TestClosedByALink(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	odd := filepath.Join(dir, "[data")
	for _, err := range []error{os.Mkdir(odd, 0o700), os.Mkdir(filepath.Join(dir, "login"), 0o700), os.Symlink("login", filepath.Join(dir, "config"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	l := Default()
	l.Mounts = []string{dir}
	m := Machine{Closed: []Place{{odd, "the data directory"}, {filepath.Join(dir, "config"), "the credentials"}}, Resolve: filepath.EvalSymlinks}
	for name, says := range map[string]string{"[data/x": "lies in the data directory", "login/auth.json": "lies in the credentials", "config": "is the credentials", "other": ""} {
		expect(t, Check(l, mount(filepath.Join(dir, name), false), m), says)
	}
}

// TestHints: a line that would give away much says what; where no line helps, none is offered.
func TestHints(t *testing.T) {
	for name, c := range map[string]struct {
		plan plan.Plan
		says string // in the hint
	}{
		"a shell":            {process("sim", []string{"/bin/sh", "-c", "id"}), `commands: ["/bin/sh -c id"] (which gives everybody with a token all that the daemon's user may)`},
		"python, inline":     {process("vllm", []string{"/usr/bin/python3.12", "-c", "x"}), "all that the daemon's user may"},
		"python, a module":   {process("vllm", []string{"python3", "-m", "vllm.serve"}), `commands: ["python3 -m vllm.serve"]`},
		"a file of /etc":     {withData("/etc/passwd"), `mounts: ["/etc/passwd"] (which gives everybody with a token files of the system`},
		"a folder":           {withData("/models/a"), `mounts: ["/models/a"]`},
		"a disk":             {docker(func(s *plan.Server) { s.Devices = []string{"/dev/nvme0n1"} }), "a whole disk"},
		"a network device":   {docker(func(s *plan.Server) { s.Devices = []string{"/dev/infiniband"} }), `devices: ["/dev/infiniband"]`},
		"a capability":       {docker(func(s *plan.Server) { s.Capabilities = []string{"CAP_SYS_ADMIN"} }), `capabilities: ["SYS_ADMIN"] (which`},
		"a harmless one":     {docker(func(s *plan.Server) { s.Capabilities = []string{"IPC_LOCK"} }), `capabilities: ["IPC_LOCK"]`},
		"privileged":         {docker(func(s *plan.Server) { s.Privileged = true }), "this whole machine"},
		"a variable":         {docker(func(s *plan.Server) { s.EnvFrom = []string{"KEY"} }), `variables: ["KEY"] (which gives everybody with a token its value)`},
		"and what is closed": {docker(func(s *plan.Server) { s.Privileged, s.Mounts = true, []plan.Mount{{Source: "/run", Target: "/x"}} }), "the owner of this machine can run the plan with `assay run`"},
	} {
		t.Run(name, func(t *testing.T) {
			hint := fault.Of(Check(Default(), c.plan, here()), fault.Store).Hint
			plain := strings.HasSuffix(c.says, "]") || strings.HasSuffix(c.says, "`")
			if !strings.Contains(hint, c.says) || plain && !strings.HasSuffix(hint, c.says) {
				t.Errorf("%s\nwant %s", hint, c.says)
			}
		})
	}
}
