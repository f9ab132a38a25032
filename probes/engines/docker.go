package engines

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

const dockerSocket = "/var/run/docker.sock"

// socketOf is where the container engine of a machine listens.
func socketOf(h host.Host) string { return cmp.Or(h.Engine, dockerSocket) }

// readDocker asks the engine what runs: itself, containerd and runc.
func readDocker(ctx context.Context, h host.Host) (engine, containerd, runc sut.Fact[string]) {
	body, err := h.AskEngine(ctx, socketOf(h), "/version", "docker", "version", "--format", "json")
	if err != nil {
		u := sut.Unknown[string]("%s", err)
		return u, u, u
	}
	return parseDockerVersion(body, "Docker engine")
}

// parseDockerVersion reads the engine's /version, or the client's output, which holds it below "Server".
func parseDockerVersion(body []byte, source string) (engine, containerd, runc sut.Fact[string]) {
	type version struct {
		Version    string
		Components []struct{ Name, Version string }
	}
	var doc struct {
		version
		Server *version
	}
	err := json.Unmarshal(body, &doc)
	if err == nil && doc.Server != nil {
		doc.version = *doc.Server
	}
	if err != nil || doc.Version == "" {
		u := sut.Unknown[string]("the Docker engine's answer holds no version")
		return u, u, u
	}
	part := func(name string) sut.Fact[string] {
		for _, c := range doc.Components {
			if strings.EqualFold(c.Name, name) && c.Version != "" {
				return sut.Known(c.Version, source)
			}
		}
		return sut.Unknown[string]("the Docker engine does not name its %s", name)
	}
	return sut.Known(doc.Version, source), part("containerd"), part("runc")
}

// info is what is taken of the engine's /info.
type info struct {
	Runtimes                                            map[string]any
	DefaultRuntime, Driver, CgroupDriver, CgroupVersion string
	SecurityOptions, CDISpecDirs                        []string
	ServerErrors                                        []string
}

// readInfo asks the engine how it is set up.
func readInfo(ctx context.Context, h host.Host) sut.ContainerEngine {
	body, err := h.AskEngine(ctx, socketOf(h), "/info", "docker", "info", "--format", "json")
	if err != nil {
		return noInfo(err.Error())
	}
	return parseInfo(body, "Docker engine")
}

func noInfo(why string) (e sut.ContainerEngine) {
	sut.GiveReason(reflect.ValueOf(&e).Elem(), why)
	return e
}

// parseInfo reads the engine's /info. The client prints one too, with errors in it, when no engine answers.
func parseInfo(body []byte, source string) sut.ContainerEngine {
	var doc info
	switch err := json.Unmarshal(body, &doc); {
	case err != nil:
		return noInfo("the Docker engine's answer cannot be read")
	case len(doc.ServerErrors) > 0 || doc.Driver == "":
		return noInfo("the Docker engine did not answer the client")
	}
	word := func(s, what string) sut.Fact[string] {
		if s == "" {
			return sut.Unknown[string]("the Docker engine names no %s", what)
		}
		return sut.Known(s, source)
	}
	e := sut.ContainerEngine{
		DefaultRuntime: word(doc.DefaultRuntime, "default runtime"), StorageDriver: word(doc.Driver, "storage driver"),
		CgroupDriver: word(doc.CgroupDriver, "cgroup driver"), CgroupVersion: word(doc.CgroupVersion, "cgroup version"),
		Runtimes: sut.Known(slices.Sorted(maps.Keys(doc.Runtimes)), source),
		Rootless: sut.Known(slices.Contains(doc.SecurityOptions, "name=rootless"), source),
		CDIDirs:  sut.Known(doc.CDISpecDirs, source),
	}
	if len(doc.Runtimes) == 0 {
		e.Runtimes = sut.Unknown[[]string]("the Docker engine names no runtime")
	}
	if len(doc.CDISpecDirs) == 0 {
		e.CDIDirs = sut.NA[[]string]("the Docker engine looks for no CDI specifications")
	}
	return e
}
