package weights

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"assay/containers/engine"
	"assay/fault"
	"assay/plan"
)

// reference is a model or file that the server's arguments name beside the model.
type reference struct {
	flag, name string
	revision   string
	isFile     bool // never a name of a hub
}

// references looks for what the arguments refer to: a path where the server sees it, and, where nothing may be fetched, a hub's repository in its cache.
func references(p plan.Plan, preset engine.Preset, getenv func(string) string) error {
	env := environment(p, preset, getenv)
	list := referred(p.Server.Args)
	if p.Model.Path == "" && !preset.Flags.PathOnly {
		list = append(list, reference{flag: "model.name", name: p.Model.Name, revision: p.Model.Revision})
	}
	offline := yes(env("HF_HUB_OFFLINE")) || yes(env("TRANSFORMERS_OFFLINE"))
	var missing []string
	for _, r := range list {
		switch {
		case path.IsAbs(r.name):
			if !found(p, r.name) {
				missing = append(missing, r.flag+" names "+r.name+", which the server does not see")
			}
		case r.isFile || !offline || !isRepository(r.name):
		case !cached(p, env, r):
			missing = append(missing, r.flag+" names "+r.name+", which is not in the hub's cache that the server sees, and HF_HUB_OFFLINE keeps it from being fetched")
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fault.New(fault.Preflight, "reference_missing", `fetch it first (hf download), mount the hub's cache (server.mounts, HF_HOME in server.env) or the file, or let the server fetch it: server.env: {HF_HUB_OFFLINE: "0", TRANSFORMERS_OFFLINE: "0"}`,
		"the server would look in vain: %s", strings.Join(missing, "; "))
}

// environment reads a variable of the server: the plan's before the preset's before what a process inherits.
func environment(p plan.Plan, preset engine.Preset, getenv func(string) string) func(string) string {
	return func(name string) string {
		if v, ok := p.Server.Env[name]; ok {
			return v
		}
		if v, ok := preset.OfflineEnv[name]; ok && p.Model.Path != "" {
			return v
		}
		inherits := p.Server.Runtime == "process" && (name == "HOME" || name == "XDG_CACHE_HOME")
		if getenv != nil && (inherits || slices.Contains(p.Server.EnvFrom, name)) {
			return getenv(name)
		}
		return ""
	}
}

func yes(value string) bool {
	return slices.Contains([]string{"1", "true", "yes", "on"}, strings.ToLower(value))
}

// isRepository: a hub names repositories owner/name.
func isRepository(name string) bool {
	return regexp.MustCompile(`^[A-Za-z0-9][\w.-]*/[\w.-]+$`).MatchString(name)
}

// referred collects what the arguments of known servers name beside the model.
func referred(args []string) (list []reference) {
	for _, flag := range []string{"--tokenizer", "--tokenizer-path", "--hf-config-path", "--speculative-model", "--speculative-draft-model-path", "--speculative-draft-model", "--draft-model", "--qlora-adapter-name-or-path"} {
		if name, ok := engine.FlagValue(args, []string{flag, strings.ReplaceAll(flag, "-", "_")}); ok {
			revision, _ := engine.FlagValue(args, []string{flag + "-revision"})
			list = append(list, reference{flag: flag, name: name, revision: revision})
		}
	}
	for _, flag := range []string{"--model-draft", "-md", "--mmproj", "--lora", "--chat-template", "--chat-template-file", "--tool-parser-plugin"} {
		if name, ok := engine.FlagValue(args, []string{flag}); ok {
			list = append(list, reference{flag: flag, name: name, isFile: true})
		}
	}
	return slices.Concat(list, speculative(args), adapters(args))
}

// speculative reads vLLM's {"model": "…", "revision": "…"}.
func speculative(args []string) []reference {
	text, ok := engine.FlagValue(args, []string{"--speculative-config", "--speculative_config"})
	var doc struct{ Model, Revision string }
	if !ok || json.Unmarshal([]byte(text), &doc) != nil || doc.Model == "" {
		return nil // n-grams need no model; what cannot be read the server refuses
	}
	return []reference{{flag: "--speculative-config", name: doc.Model, revision: doc.Revision}}
}

// adapters reads name=path, or {"name": "…", "path": "…"}, as many as follow.
func adapters(args []string) (list []reference) {
	for i, a := range args {
		if !slices.Contains([]string{"--lora-modules", "--lora-paths"}, a) {
			continue
		}
		for _, one := range args[i+1:] {
			if strings.HasPrefix(one, "-") {
				break
			}
			var doc struct{ Path string }
			if json.Unmarshal([]byte(one), &doc) != nil {
				_, after, named := strings.Cut(one, "=")
				if doc.Path = one; named {
					doc.Path = after
				}
			}
			if doc.Path != "" {
				list = append(list, reference{flag: a, name: doc.Path})
			}
		}
	}
	return list
}

// found tells whether the server sees a file. In a container what no mount covers may be the image's own.
func found(p plan.Plan, file string) bool {
	if p.Server.Runtime != "docker" {
		_, err := os.Stat(file)
		return err == nil
	}
	host, covered := onHost(p, file)
	if !covered {
		return true
	}
	_, err := os.Stat(host)
	return err == nil
}

// onHost is where a path of the container lies on this machine, by the mount that is nearest.
func onHost(p plan.Plan, file string) (host string, covered bool) {
	longest := -1
	for _, m := range p.Server.Mounts {
		if below(m.Target, file) && len(m.Target) > longest {
			rel, err := filepath.Rel(m.Target, file)
			if err != nil {
				continue
			}
			longest, host, covered = len(m.Target), filepath.Join(m.Source, rel), true
		}
	}
	return host, covered
}

// cached looks for a repository in the hub's cache. A container's cache is what its environment says, or root's; where no mount covers it, nothing
// but what the image itself brings could be there, which is not known.
func cached(p plan.Plan, env func(string) string, r reference) bool {
	hub := env("HF_HUB_CACHE")
	switch home := env("HOME"); {
	case hub != "":
	case env("HF_HOME") != "":
		hub = filepath.Join(env("HF_HOME"), "hub")
	case env("XDG_CACHE_HOME") != "":
		hub = filepath.Join(env("XDG_CACHE_HOME"), "huggingface/hub")
	case home != "":
		hub = filepath.Join(home, ".cache/huggingface/hub")
	default:
		hub = "/root/.cache/huggingface/hub"
	}
	if p.Server.Runtime == "docker" {
		host, covered := onHost(p, hub)
		if !covered {
			return false
		}
		hub = host
	}
	return holds(filepath.Join(hub, "models--"+strings.ReplaceAll(r.name, "/", "--")), r.revision)
}

// holds tells whether a repository of a hub's cache has files of a revision; "" is the one that main means.
func holds(repository, revision string) bool {
	if revision == "" {
		revision = "main"
	}
	if ref, err := os.ReadFile(filepath.Join(repository, "refs", revision)); err == nil {
		revision = strings.TrimSpace(string(ref))
	}
	snapshots, err := os.ReadDir(filepath.Join(repository, "snapshots"))
	if err != nil {
		return false
	}
	return slices.ContainsFunc(snapshots, func(e os.DirEntry) bool {
		if !same(e.Name(), revision) {
			return false
		}
		files, err := os.ReadDir(filepath.Join(repository, "snapshots", e.Name()))
		return err == nil && len(files) > 0
	})
}
