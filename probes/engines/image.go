package engines

import (
	"context"
	"encoding/json"
	"strings"

	"assay/probes/host"
	"assay/probes/sut"
)

// ReadImage asks the Docker engine for the environment of an image, in which images of CUDA and ROCm name their versions.
func ReadImage(ctx context.Context, h host.Host, name string) sut.Image {
	body, err := h.AskEngine(ctx, socketOf(h), "/images/"+name+"/json", "docker", "image", "inspect", name)
	if err != nil {
		u := sut.Unknown[string]("the image is not on this machine, or no Docker engine answers")
		return sut.Image{Name: name, CUDA: u, ROCm: u}
	}
	return parseImage(name, body)
}

// parseImage reads the engine's description of an image, or the client's, which is a list with one.
func parseImage(name string, body []byte) sut.Image {
	type description struct {
		Config struct{ Env []string }
	}
	var one description
	var list []description
	if json.Unmarshal(body, &list) == nil && len(list) == 1 {
		one = list[0]
	} else if err := json.Unmarshal(body, &one); err != nil {
		u := sut.Unknown[string]("the Docker engine's description of the image cannot be read")
		return sut.Image{Name: name, CUDA: u, ROCm: u}
	}
	env := map[string]string{}
	for _, line := range one.Config.Env {
		key, value, _ := strings.Cut(line, "=")
		env[key] = value
	}
	version := func(what string, keys ...string) sut.Fact[string] {
		for _, k := range keys {
			if v := env[k]; v != "" && host.Digits(v) > 0 {
				return sut.Known(v, "environment variable "+k+" of the image")
			}
		}
		return sut.NA[string]("the image names no " + what)
	}
	return sut.Image{Name: name, CUDA: version("CUDA", "CUDA_VERSION", "NV_CUDA_CUDART_VERSION"), ROCm: version("ROCm", "ROCM_VERSION", "ROCM_VER", "HIP_VERSION")}
}
