package machine

import (
	"context"
	"encoding/json"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

const dockerSocket = "/var/run/docker.sock"

// ProbeContainers asks the Docker engine for its version, and the NVIDIA tools for theirs.
func ProbeContainers(ctx context.Context, h host.Host, s *sut.SUT) error {
	s.Software.Docker, s.Software.Containerd = readDocker(ctx, h)
	s.Software.ContainerToolkit = readToolkit(ctx, h)
	return nil
}

func readDocker(ctx context.Context, h host.Host) (engine, containerd sut.Fact[string]) {
	body, err := h.AskEngine(ctx, dockerSocket, "/version", "docker", "version", "--format", "json")
	if err != nil {
		return sut.Unknown[string]("%s", err), sut.Unknown[string]("%s", err)
	}
	return parseDockerVersion(body, "Docker engine")
}

// parseDockerVersion reads the engine's /version, or the client's output, which holds it below "Server".
func parseDockerVersion(body []byte, source string) (engine, containerd sut.Fact[string]) {
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
		return sut.Unknown[string]("the Docker engine's answer holds no version"), sut.Unknown[string]("the Docker engine's answer holds no version")
	}
	containerd = sut.Unknown[string]("the Docker engine does not name its containerd")
	for _, c := range doc.Components {
		if strings.EqualFold(c.Name, "containerd") && c.Version != "" {
			containerd = sut.Known(c.Version, source)
		}
	}
	return sut.Known(doc.Version, source), containerd
}

func readToolkit(ctx context.Context, h host.Host) sut.Fact[string] {
	out, err := h.Run(ctx, "nvidia-ctk", "--version")
	if err != nil {
		return sut.Unknown[string]("%s", err)
	}
	for line := range strings.Lines(string(out.Stdout)) {
		if _, v, ok := strings.Cut(line, "version "); ok {
			return sut.Known(strings.TrimSpace(v), "nvidia-ctk --version")
		}
	}
	return sut.Unknown[string]("nvidia-ctk prints no version")
}

// ProbePower says why the provisioned power is open: it is the BMC's, the rack's or the operator's to tell.
func ProbePower(_ context.Context, _ host.Host, s *sut.SUT) error {
	const why = "neither a BMC nor a PDU is asked, and no figure was declared"
	s.Power = sut.Power{ProvisionedW: sut.Unknown[float64](why), Source: sut.Unknown[string](why), Method: sut.Unknown[string](why)}
	return nil
}
