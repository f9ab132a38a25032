package allow

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"assay/containers"
	"assay/plan"
)

// files checks every file of the host that a plan names.
func (c *check) files(p plan.Plan) {
	s := p.Server
	for i, m := range s.Mounts {
		at := "server.mounts." + strconv.Itoa(i)
		if m.Writable {
			c.writable(at, m.Source)
		} else {
			c.readable(at, m.Source, true)
		}
	}
	if p.Model.Path != "" && s.Runtime == "docker" {
		c.readable("model.path", containers.ModelFolder(p.Model.Path), false)
	}
	for _, f := range []struct{ at, name string }{
		{"model.path", p.Model.Path}, {"workload.dataset.path", p.Workload.Dataset.Path}, {"server.image_file", s.ImageFile},
		{"server.token_file", s.TokenFile}, {"client.tokenizer", hostFile(p.Client.Tokenizer)},
	} {
		if f.name != "" {
			c.readable(f.at, f.name, false)
		}
	}
}

// hostFile is a name that can only be a file's; "" for one that is looked for elsewhere.
func hostFile(name string) string {
	if filepath.IsAbs(name) || strings.HasPrefix(name, ".") || strings.Contains(name, "..") {
		return name
	}
	return ""
}

// readable checks a file or folder that is read. What lies below a writable folder may be a link that a container left there for whoever
// follows it next, so only the folder itself can be had, as a mount.
func (c *check) readable(at, name string, mount bool) {
	real, ok := c.real(at, name)
	if !ok {
		return
	}
	if within(c.places(c.list.Writable), real) {
		if !mount || !slices.Contains(c.places(c.list.Writable), real) {
			c.never("%s %s lies in a folder that containers may write", at, name)
		}
		return
	}
	if !within(c.places(c.list.Mounts), real) {
		c.refuse("mounts", real, "%s is %s", at, shown(name, real))
	}
}

// writable checks a mount that the container may write.
func (c *check) writable(at, name string) {
	real, ok := c.real(at, name)
	if !ok {
		return
	}
	if slices.Contains([]string{"/var", "/home", "/root", "/opt", "/srv", "/mnt"}, real) || within(systemFolders(), real) {
		c.never("%s is %s, writable: who writes there is soon root", at, shown(name, real))
		return
	}
	if !slices.Contains(c.places(c.list.Writable), real) {
		c.refuse("writable_mounts", real, "%s is %s, writable", at, shown(name, real))
	}
}

// real follows the links of a name. What is never allowed is refused here.
func (c *check) real(at, name string) (string, bool) {
	if !filepath.IsAbs(name) {
		c.never("%s %s is no whole path", at, name)
		return "", false
	}
	real, err := resolve(c.machine.Resolve, filepath.Clean(name))
	if err != nil {
		c.never("%s %s cannot be followed to its end", at, name)
		return "", false
	}
	if why := c.closed(real); why != "" {
		c.never("%s is %s: it %s", at, shown(name, real), why)
		return "", false
	}
	return real, true
}

// resolve follows the links of a path as far as it exists.
func resolve(follow func(string) (string, error), name string) (string, error) {
	real, err := follow(name)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	up, base := filepath.Split(name)
	if up = filepath.Clean(up); up == name {
		return name, nil
	}
	real, err = resolve(follow, up)
	return filepath.Join(real, base), err
}

// places are the folders of a list where they really are.
func (c *check) places(list []string) []string {
	var out []string
	for _, one := range list {
		if real, err := resolve(c.machine.Resolve, filepath.Clean(one)); err == nil && filepath.IsAbs(one) {
			out = append(out, real)
		}
	}
	return out
}

func (c *check) device(name string) {
	real, ok := c.real("server.devices", name)
	if !ok {
		return
	}
	if !within(c.places(c.list.Devices), real) {
		c.refuse("devices", real, "server.devices has %s", shown(name, real))
	}
}

// systemFolders are the folders whose writer is root soon after.
func systemFolders() []string {
	return []string{"/etc", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/run", "/dev", "/var/run", "/var/spool/cron", "/var/lib/systemd"}
}

// within tells whether a path is one of folders or lies in one.
func within(folders []string, path string) bool {
	return slices.ContainsFunc(folders, func(dir string) bool {
		return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
	})
}

func shown(name, real string) string {
	if filepath.Clean(name) == real {
		return real
	}
	return name + ", which leads to " + real
}
