package served

import (
	"cmp"
	"path"
	"strings"

	"assay/report/figure"
)

// Server is what the runtime told about a server or router, and what the server told of itself.
type Server struct {
	Runtime      string   `json:"runtime"`
	Name         string   `json:"name"`
	Image        string   `json:"image"`
	ImageID      string   `json:"image_id"`
	Argv         []string `json:"argv"`
	Version      string   `json:"version"`
	MaxModelLen  int64    `json:"max_model_len"`
	KVTokens     int64    `json:"kv_tokens"`
	Quantization string   `json:"quantization"`
	DType        string   `json:"dtype"`
	BinarySHA256 string   `json:"binary_sha256"`

	Inside  *Inside  `json:"inside"`
	Models  []string `json:"models"`
	Servers []Server `json:"servers"` // each of several
}

// What names the thing that ran as closely as the runtime can.
func (s Server) What() string {
	if s.Image != "" {
		return s.Image
	}
	return cmp.Or(strings.Join(s.Argv, " "), s.Name)
}

// Program names a router, its version where it is known, and what pins it, shortened.
func (s Server) Program() string {
	if s.Image != "" {
		name, digest, _ := strings.Cut(s.Image, "@sha256:")
		return strings.Join(strings.Fields(path.Base(name)+" "+s.Version+" "+figure.Short(digest, 12)), " ")
	}
	if len(s.Argv) > 0 {
		return strings.Join(strings.Fields(path.Base(s.Argv[0])+" "+s.Version+" "+figure.Short(s.BinarySHA256, 12)), " ")
	}
	return s.Name
}

// started says that the run started it, on the machine that was probed.
func (s Server) started() bool { return s.Runtime == "docker" || s.Runtime == "process" }

// argument is the value of the first of some flags on the command line, as --flag value or --flag=value; "" without one.
func (s Server) argument(flags ...string) string {
	for i, word := range s.Argv {
		name, value, joined := strings.Cut(word, "=")
		for _, flag := range flags {
			switch {
			case name != flag:
			case joined:
				return value
			case i+1 < len(s.Argv) && !strings.HasPrefix(s.Argv[i+1], "-"):
				return s.Argv[i+1]
			}
		}
	}
	return ""
}
