package engines

import "testing"

func TestParseImage(t *testing.T) {
	for name, tt := range map[string]struct{ body, cuda, rocm string }{
		"CUDA of the engine": {`{"Config":{"Env":["PATH=/bin","CUDA_VERSION=12.8.1","NVIDIA_REQUIRE_CUDA=cuda>=12.8"]}}`, "12.8.1", ""},
		"ROCm of the client": {`[{"Config":{"Env":["ROCM_VERSION=6.4.1"]}}]`, "", "6.4.1"},
		"neither":            {`{"Config":{"Env":null}}`, "", ""},
		"no version":         {`{"Config":{"Env":["CUDA_VERSION=latest"]}}`, "", ""},
		"two of them":        {`[{},{}]`, "", ""},
		"broken":             {`{"Config":`, "", ""},
	} {
		got := parseImage("x", []byte(tt.body))
		if got.CUDA.Value != tt.cuda || got.ROCm.Value != tt.rocm || tt.cuda == "" && got.CUDA.Unknown+got.CUDA.NA == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func FuzzParseImage(f *testing.F) {
	f.Add([]byte(`{"Config":{"Env":["CUDA_VERSION=12.8.1"]}}`))
	f.Add([]byte(`[{"Config":{"Env":["ROCM_VERSION=6.4.1"]}}]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		got := parseImage("x", body)
		if got.CUDA.IsKnown() == (got.CUDA.Unknown+got.CUDA.NA != "") {
			t.Errorf("%+v", got)
		}
	})
}
