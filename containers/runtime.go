package containers

import (
	"strings"

	"assay/containers/docker"
	"assay/containers/endpoint"
	"assay/containers/process"
	"assay/containers/socket"
	"assay/fault"
)

// Runtimes are the ways to start something, in the order they are listed; at is where the container engine listens.
func Runtimes(at DockerPlace) []Runtime {
	return []Runtime{docker.Runtime{At: at}, process.Runtime{}, endpoint.Runtime{}}
}

// RuntimeNamed finds a runtime.
func RuntimeNamed(name string, at DockerPlace) (Runtime, error) {
	for _, r := range Runtimes(at) {
		if r.Name() == name {
			return r, nil
		}
	}
	return nil, fault.New(fault.Plan, "runtime_unknown", "write one of "+strings.Join(names(Runtimes(at)), ", "), "runtime %q is not known", name)
}

func names(rs []Runtime) []string {
	var out []string
	for _, r := range rs {
		out = append(out, r.Name())
	}
	return out
}

// DockerPlace is where the container engine listens; its zero value is the usual socket.
type DockerPlace = socket.Place

// FindDocker finds the container engine of this machine: where asked says, else where DOCKER_HOST says, else at the known sockets.
func FindDocker(asked string, env func(string) string) DockerPlace {
	return socket.Find(socket.Search{Asked: asked, Env: env, Dial: socket.Listens})
}
