package probes

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
)

const dockerSocket = "/var/run/docker.sock"

// probeContainers asks the Docker engine for its version, and the NVIDIA tools for theirs.
func probeContainers(ctx context.Context, h Host, s *SUT) error {
	s.Software.Docker, s.Software.Containerd = readDocker(ctx, h)
	s.Software.ContainerToolkit = readToolkit(ctx, h)
	return nil
}

// readDocker asks the engine over its socket. In a capture the answer lies as the output of the client's command, which says the same.
func readDocker(ctx context.Context, h Host) (engine, containerd Fact[string]) {
	body, source, err := dockerVersion(ctx, h)
	if err != nil {
		return Unknown[string]("%s", err), Unknown[string]("%s", err)
	}
	engine, containerd = parseDockerVersion(body, source)
	return engine, containerd
}

func dockerVersion(ctx context.Context, h Host) ([]byte, string, error) {
	argv := []string{"docker", "version", "--format", "json"}
	if h.Get == nil {
		out, err := h.exec(ctx, argv...)
		if errors.Is(err, ErrNotFound) {
			err = errors.New("no answer of a Docker engine is in the capture")
		}
		return out.Stdout, "Docker engine", err
	}
	body, err := h.Get(ctx, dockerSocket, "/version")
	if err != nil {
		err = errors.New("no Docker engine answers on " + dockerSocket)
		h.record.command(argv, Output{}, err)
		return nil, "", err
	}
	h.record.command(argv, Output{Stdout: body}, nil)
	return body, "Docker engine", nil
}

// parseDockerVersion reads the engine's /version, or the client's output, which holds it below "Server".
func parseDockerVersion(body []byte, source string) (engine, containerd Fact[string]) {
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
		return Unknown[string]("the Docker engine's answer holds no version"), Unknown[string]("the Docker engine's answer holds no version")
	}
	containerd = Unknown[string]("the Docker engine does not name its containerd")
	for _, c := range doc.Components {
		if strings.EqualFold(c.Name, "containerd") && c.Version != "" {
			containerd = Known(c.Version, source)
		}
	}
	return Known(doc.Version, source), containerd
}

func readToolkit(ctx context.Context, h Host) Fact[string] {
	out, err := h.exec(ctx, "nvidia-ctk", "--version")
	if err != nil {
		return Unknown[string]("%s", err)
	}
	for line := range strings.Lines(string(out.Stdout)) {
		if _, v, ok := strings.Cut(line, "version "); ok {
			return Known(strings.TrimSpace(v), "nvidia-ctk --version")
		}
	}
	return Unknown[string]("nvidia-ctk prints no version")
}

// probePower says why the provisioned power is open: it is the BMC's, the rack's or the operator's to tell.
func probePower(_ context.Context, _ Host, s *SUT) error {
	const why = "neither a BMC nor a PDU is asked, and no figure was declared"
	s.Power = Power{ProvisionedW: Unknown[float64](why), Source: Unknown[string](why), Method: Unknown[string](why)}
	return nil
}
