package allow

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/agent/secrets"
	"assay/containers"
	"assay/fault"
	"assay/plan"
	"assay/runner"
)

// Check refuses a plan that wants more than the list has. The plan's file names are absolute. The fault names every refusal and the line of
// the configuration that would allow it.
func Check(l List, p plan.Plan, m Machine) error {
	c := check{list: l, machine: m}
	c.server(p)
	c.container(p.Server)
	for i, r := range p.Routers {
		c.router(fmt.Sprintf("routers.%d", i), r)
	}
	c.client(p.Client)
	c.files(p)
	for _, name := range secrets.Names(p) {
		if !slices.Contains(l.Variables, name) {
			c.refuse("variables", name, "the plan names the variable %s", name)
		}
	}
	return c.fault()
}

// check gathers what is refused.
type check struct {
	list    List
	machine Machine
	texts   []string
	lines   []string // of the configuration
	// hopeless: no line of the configuration would let this plan pass
	hopeless bool
}

// refuse adds a refusal that a value under a key of the list would lift.
func (c *check) refuse(key, value, format string, args ...any) {
	c.texts = append(c.texts, fmt.Sprintf(format, args...))
	line := fmt.Sprintf("%s: [%q]", key, value)
	if gives := opens(key, value); gives != "" {
		line += " (which gives everybody with a token " + gives + ")"
	}
	c.lines = append(c.lines, line)
}

// need adds a refusal, unless what a key of the list switches on is allowed.
func (c *check) need(key string, allowed bool, text string) {
	if !allowed {
		line := key + ": true"
		if key == "privileged" {
			line += " (which gives everybody with a token this whole machine)"
		}
		c.texts, c.lines = append(c.texts, text), append(c.lines, line)
	}
}

// never adds a refusal that no list lifts.
func (c *check) never(format string, args ...any) {
	c.texts = append(c.texts, fmt.Sprintf(format, args...)+", which is never allowed over the network")
	c.hopeless = true
}

// most is how many refusals are told.
const most = 8

func (c *check) fault() error {
	if len(c.texts) == 0 {
		return nil
	}
	hint := "the owner of this machine can run the plan with `assay run`"
	if len(c.lines) > 0 && !c.hopeless {
		slices.Sort(c.lines)
		lines := slices.Compact(c.lines)
		hint = "the owner of this machine may write into the configuration of `assay serve` under allow: " + strings.Join(lines[:min(most, len(lines))], ", ")
	}
	return fault.New(fault.Plan, "not_allowed", hint, "this machine does not allow what the plan wants: %s", strings.Join(c.texts[:min(most, len(c.texts))], "; "))
}

// server checks what is started or asked.
func (c *check) server(p plan.Plan) {
	s := p.Server
	c.runtime("server", s.Runtime)
	switch s.Runtime {
	case "docker":
		c.image("server.image", s.Image)
		if s.BaseImage != "" {
			c.image("server.base_image", s.BaseImage)
		}
	case "endpoint":
		for _, url := range s.BaseURLs() {
			c.endpoint(url)
		}
	case "process":
		c.program(s)
	}
}

func (c *check) runtime(of, name string) {
	if !slices.Contains(c.list.Runtimes, name) {
		c.refuse("runtimes", name, "%s.runtime is %s", of, name)
	}
}

// program checks a server that is a process. The simulated engine is this program itself; it writes one file, when it is told to.
func (c *check) program(s plan.Server) {
	c.loader("server.env", s.Env)
	if s.Engine == "sim" && len(s.Command) == 0 {
		for _, arg := range s.Args {
			if arg == "--truth" || strings.HasPrefix(arg, "--truth=") {
				c.never("server.args has --truth, by which the simulated engine writes a file")
			}
		}
		return
	}
	command := s.Command
	if len(command) == 0 {
		if preset, err := containers.PresetNamed(s.Engine); err == nil {
			command = preset.Program("")
		}
	}
	c.command("server", command)
}

// command checks that a command begins as one of the list.
func (c *check) command(of string, command []string) {
	if len(command) == 0 {
		return // refused elsewhere: there is nothing to start
	}
	begins := func(known string) bool {
		words := strings.Fields(known)
		return len(words) > 0 && len(words) <= len(command) && slices.Equal(words, command[:len(words)])
	}
	if !slices.ContainsFunc(c.list.Commands, begins) {
		c.refuse("commands", strings.Join(command, " "), "%s starts the program %q", of, strings.Join(command, " "))
	}
}

// loader refuses variables by which a program that is allowed would load another.
func (c *check) loader(at string, env map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if loads(name) {
			c.never("%s sets %s, by which another program is loaded", at, name)
		}
	}
}

func loads(variable string) bool {
	prefixes := []string{"LD_", "PYTHON", "GCONV"}
	names := []string{"PATH", "HOME", "ENV", "BASH_ENV", "IFS", "NODE_OPTIONS", "PERL5OPT", "PERL5LIB", "RUBYOPT"}
	return slices.Contains(names, variable) || slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(variable, p) })
}

// router checks what stands between. nginx and HAProxy get their whole configuration from this program.
func (c *check) router(at string, r plan.Router) {
	switch {
	case r.Kind == plan.RouterNone:
	case r.Runtime == "docker" || r.Runtime == "" && r.Image != "":
		c.beside(at, r.Image)
	case len(r.Command) == 0 && (r.Kind == "nginx" || r.Kind == "haproxy"):
		c.runtime(at, "process")
	default:
		c.runtime(at, "process")
		command := r.Command
		if len(command) == 0 {
			command = []string{r.Kind}
		}
		c.command(at, command)
		c.loader(at+".env", r.Env)
	}
}

// client checks another load generator than this program.
func (c *check) client(k plan.Client) {
	switch {
	case k.Kind == "" || k.Kind == "native":
	case k.Runtime == "docker" || k.Runtime == "" && k.Image != "":
		c.beside("client", k.Image)
	default:
		c.runtime("client", "process")
		c.command("client", runner.Program(plan.Plan{Client: k}))
	}
}

// beside checks a container that stands beside the server: it always shares the host's network.
func (c *check) beside(at, image string) {
	c.runtime(at, "docker")
	c.image(at+".image", image)
	c.need("host_network", c.list.HostNetwork, at+" is a container on the host's network")
}

// container checks the rights of the server's container.
func (c *check) container(s plan.Server) {
	if s.Runtime != "docker" {
		return
	}
	if s.Network == "host" {
		c.need("host_network", c.list.HostNetwork, "server.network is host")
	}
	if s.IPC == "host" {
		c.need("host_ipc", c.list.HostIPC, "server.ipc is host")
	}
	if s.Privileged {
		c.need("privileged", c.list.Privileged, "server.privileged is true")
	}
	for _, name := range s.Capabilities {
		name = strings.TrimPrefix(strings.ToUpper(name), "CAP_")
		has := func(known string) bool { return strings.TrimPrefix(strings.ToUpper(known), "CAP_") == name }
		if !slices.ContainsFunc(c.list.Capabilities, has) {
			c.refuse("capabilities", name, "server.capabilities has %s", name)
		}
	}
	for _, opt := range s.SecurityOpt {
		if !slices.Contains(c.list.SecurityOpt, opt) {
			c.refuse("security_opt", opt, "server.security_opt has %s", opt)
		}
	}
	for _, file := range s.Devices {
		c.device(file)
	}
}
