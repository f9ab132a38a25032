package served

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"assay/probes"
	"assay/report/machine"
)

// Engine is the chapter on the inference engine. sut is nil for a machine that was not probed.
func Engine(name string, s Server, sut *probes.SUT) machine.Chapter {
	commit, commitSource := s.commit()
	backend, otherwise := s.backend(name, sut)
	return machine.Chapter{Name: "Engine", Lines: []machine.Line{
		machine.Stated("Engine", name, "plan", "the plan could not be read"),
		machine.Stated("Version", s.Version, "the server's version endpoint", "no server told its version"),
		s.quantization(),
		machine.Stated("Backend", backend, "accelerators of the machine and the command line", otherwise),
		s.build(),
		machine.Stated("Commit", commit, commitSource, "neither the build, the version nor the image's tag holds one"),
	}}
}

const commandLine = "command line"

var (
	versionCommit = regexp.MustCompile(`[+-](?:g([0-9a-f]{7,40})|([0-9a-f]{7,40}))(?:[.+-]|$)`)
	tagCommit     = regexp.MustCompile(`[:-]([0-9a-f]{40})$`)
)

// untold is why a server tells nothing of a setting that its flags would.
func (s Server) untold(flags string) string {
	if s.started() {
		return "the command line has no " + flags + ", and the server does not tell what it took from the model's files"
	}
	return "the server was not started by this run, and does not tell"
}

// quantization is how the weights are stored.
func (s Server) quantization() machine.Line {
	if q := s.argument("--quantization", "-q", "--quantize"); q != "" {
		return machine.Stated("Quantization", q, commandLine, "")
	}
	return machine.Stated("Quantization", s.Quantization, "the server's own settings", s.untold("--quantization"))
}

// precision is the number format of the model: that of the weights where they are quantised, and that of the computation.
func precision(s Server) machine.Line {
	var parts, sources []string
	if q := s.quantization(); q.Value != "" {
		parts, sources = append(parts, q.Value), append(sources, q.Source)
	}
	asked, told := s.argument("--dtype"), s.DType
	switch {
	case asked != "" && asked != "auto":
		parts, sources = append(parts, asked), append(sources, commandLine)
	case told != "" && told != "auto":
		parts, sources = append(parts, told), append(sources, "the server's own settings")
	}
	return machine.Stated("Model precision", strings.Join(parts, ", "), machine.Distinct(sources), s.untold("--dtype or --quantization"))
}

// backend is what the engine computes on, or why nobody knows.
func (s Server) backend(engine string, sut *probes.SUT) (backend, otherwise string) {
	switch {
	case engine == "sim":
		return "", "the simulated engine computes nothing"
	case !s.started():
		return "", "the server was not started by this run, and does not tell what it computes on"
	case s.argument("--device") != "":
		return s.argument("--device"), ""
	case sut == nil:
		return "", "the machine was not probed"
	case sut.Accelerators.Unknown != "":
		return "", "accelerators unknown: " + sut.Accelerators.Unknown
	case len(sut.Accelerators.Items) == 0:
		return "cpu", ""
	}
	serves := slices.IndexFunc(sut.Accelerators.Items, func(a probes.Accelerator) bool { return !sut.Aside(a) }) // cards go before a processor's own
	switch vendor := sut.Accelerators.Items[serves].Vendor.Value; {
	case slices.Contains([]string{"llamacpp", "ollama"}, engine):
		return "", "the server does not tell which of its backends it computes with"
	case vendor == "AMD":
		return "rocm", ""
	case vendor == "NVIDIA":
		return "cuda", ""
	default:
		return "", "accelerators of " + cmp.Or(vendor, "an unknown vendor")
	}
}

// build is the digest that pins what ran.
func (s Server) build() machine.Line {
	switch {
	case strings.Contains(s.Image, "@"):
		return machine.Stated("Build", s.Image, "container image by its digest", "")
	case s.ImageID != "":
		return machine.Stated("Build", s.ImageID, "container runtime", "")
	case s.BinarySHA256 != "":
		return machine.Stated("Build", "sha256:"+s.BinarySHA256, "program file", "")
	}
	return machine.Stated("Build", "", "", "the server was not started by this run, or nothing was hashed")
}

// commit is the revision of the engine's source: as its own build noted it, or where its version or its image's tag ends with one:
// 0.32.0+g889b538fc, b6123-0a1b2c3d, nightly-5555a2d8f7116b2b4877f66516f4128176cf722a.
func (s Server) commit() (revision, source string) {
	for _, engine := range []string{"vllm", "sglang", "tensorrt_llm", "tgi"} {
		if p, ok := s.Inside.part(engine); ok && p.Commit != "" {
			return p.Commit, "the build that is installed"
		}
	}
	if m := versionCommit.FindStringSubmatch(s.Version); m != nil && (m[1] != "" || strings.ContainsAny(m[2], "abcdef")) { // digits alone may be a date
		return m[1] + m[2], "the server's version"
	}
	tag, _, _ := strings.Cut(s.Image, "@")
	if m := tagCommit.FindStringSubmatch(tag); m != nil {
		return m[1], "the image's tag"
	}
	return "", ""
}
