package served

import (
	"cmp"
	"strings"

	"assay/probes"
	"assay/report/machine"
)

// Inside is what the server stands on, read while it ran.
type Inside struct {
	Where  string   `json:"where"`
	Parts  []Part   `json:"parts"`
	Unread []string `json:"unread"`
}

// Part is a piece of software in the server's image, or beside its program.
type Part struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Other   string `json:"other"`
}

// part finds a piece of software by its name.
func (i *Inside) part(name string) (Part, bool) {
	if i == nil {
		return Part{}, false
	}
	for _, p := range i.Parts {
		if p.Name == name {
			return p, true
		}
	}
	return Part{}, false
}

// text is a piece as people write it: "PyTorch 2.9.0+rocm7.0 (1c57644d0f7a)".
func (p Part) text() string {
	names := map[string]string{
		"rocm": "ROCm", "hip": "HIP", "hipblaslt": "hipBLASLt", "rccl": "RCCL", "cuda": "CUDA", "cudnn": "cuDNN", "nccl": "NCCL", "python": "Python", "pytorch": "PyTorch", "triton": "Triton",
		"aiter": "AITER", "flash_attn": "FlashAttention", "flashinfer": "FlashInfer", "transformers": "Transformers", "vllm": "vLLM", "sglang": "SGLang", "tensorrt_llm": "TensorRT-LLM", "tgi": "TGI",
	}
	text := cmp.Or(names[p.Name], p.Name) + " " + p.Version
	if p.Name == "os" { // its version is its name
		text = p.Version
	}
	if c := p.Commit; c != "" && !strings.Contains(p.Version, c[:min(7, len(c))]) {
		text += " (" + c[:min(12, len(c))] + ")"
	}
	if p.Other != "" {
		text += " [also " + p.Other + "]"
	}
	return text
}

// Within is the software that the server stands on, and how it stands to the host's.
func Within(s Server, sut *probes.SUT) []machine.Line {
	const label, beside = "Software inside", "Inside and on the host"
	if s.Inside == nil {
		const why = "the server was not started by this run, or nothing was read of it"
		return []machine.Line{machine.Stated(label, "", "", why), machine.Stated(beside, "", "", why)}
	}
	var texts []string
	for _, p := range s.Inside.Parts {
		texts = append(texts, p.text())
	}
	line := machine.Stated(label, strings.Join(texts, ", "), s.Inside.Where, "nothing that is looked for is there")
	line.Missing = s.Inside.Unread
	return []machine.Line{line, machine.Stated(beside, strings.Join(s.besideHost(sut), "; "), s.Inside.Where+", probes of the host", "neither has ROCm or CUDA")}
}

// besideHost compares what the image and the host each have of a driver's stack.
func (s Server) besideHost(sut *probes.SUT) []string {
	if sut == nil {
		return nil
	}
	var out []string
	for _, stack := range []struct {
		part, name, host string
		value            probes.Fact[string]
	}{{"rocm", "ROCm", "on the host", sut.Software.ROCm}, {"cuda", "CUDA", "is what the driver supports", sut.Software.CUDA}} {
		p, inside := s.Inside.part(stack.part)
		value, host := stack.value.Get()
		switch {
		case inside && host:
			out = append(out, stack.name+" "+p.Version+" inside, "+value+" "+stack.host)
		case inside && stack.value.NA != "":
			out = append(out, stack.name+" "+p.Version+" inside, none on the host")
		case inside:
			out = append(out, stack.name+" "+p.Version+" inside, on the host unknown: "+cmp.Or(stack.value.Reason(), "not probed"))
		case host:
			out = append(out, stack.name+" "+value+" "+stack.host+", not found inside")
		}
	}
	return out
}
