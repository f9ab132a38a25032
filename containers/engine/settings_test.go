package engine

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPrintedSettings(t *testing.T) {
	sglang := "[2026-05-15 08:39:19] server_args=ServerArgs(model_path='/m', tokenizer_revision='x', tp_size=8, pp_size=1, dp_size=2, ep_size=4, mem_fraction_static=0.88, kv_cache_dtype='fp8_e4m3', context_length=None, page_size=256, revision='7b71922')"
	want := []Setting{{TensorParallel, "8", "log"}, {PipelineParallel, "1", "log"}, {DataParallel, "2", "log"}, {ExpertParallel, "4", "log"}, {KVDType, "fp8_e4m3", "log"},
		{KVBlockTokens, "256", "log"}, {MemoryShare, "0.88", "log"}, {Revision, "7b71922", "log"}}
	if d := cmp.Diff(want, PrintedSettings(sglang)); d != "" {
		t.Error(d)
	}
	vllm := "INFO non-default args: {'model_tag': 'm', 'max_model_len': 2048, 'tensor_parallel_size': 4, 'enable_expert_parallel': True}"
	if d := cmp.Diff([]Setting{{TensorParallel, "4", "log"}, {ExpertParallel, "True", "log"}, {ContextTokens, "2048", "log"}}, PrintedSettings(vllm)); d != "" {
		t.Error(d)
	}
	for _, other := range []string{"", "tp_size=8", "user said: revision=abc, tp_size=9"} {
		if got := PrintedSettings(other); got != nil {
			t.Errorf("%q: %v", other, got)
		}
	}
}

func TestArgumentSettings(t *testing.T) {
	argv := []string{"vllm", "serve", "m", "--tensor-parallel-size", "8", "--max-model-len=4096", "--enable-expert-parallel", "--revision", "abc"}
	want := []Setting{{TensorParallel, "8", "argv"}, {ExpertParallel, "True", "argv"}, {ContextTokens, "4096", "argv"}, {Revision, "abc", "argv"}}
	if d := cmp.Diff(want, ArgumentSettings(argv)); d != "" {
		t.Error(d)
	}
	all := Known([]Setting{{TensorParallel, "4", "/server_info"}}, want)
	if s, _ := Found(all, TensorParallel); s.Value != "4" || s.Count() != 4 || len(all) != 4 {
		t.Errorf("%v", all)
	}
}

func TestSizes(t *testing.T) {
	for _, c := range []struct{ tensor, data, expert, want string }{{"8", "2", "True", "16"}, {"8", "", "True", "8"}, {"8", "1", "False", "1"}, {"8", "1", "4", "4"}} {
		all := Sizes(Known(told("log", TensorParallel, c.tensor, DataParallel, c.data, ExpertParallel, c.expert)))
		if s, _ := Found(all, ExpertParallel); s.Value != c.want {
			t.Errorf("%+v: %s", c, s.Value)
		}
	}
}

// TestDevelopmentMode: a vLLM that opens its paths for developers says so, and tells its sizes itself.
func TestDevelopmentMode(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /server_info", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"vllm_config":{"parallel_config":{"tensor_parallel_size":8,"pipeline_parallel_size":1,"data_parallel_size":2}},"vllm_env":{}}`)
	})
	s := httptest.NewServer(mux)
	defer s.Close()
	f := describeVLLM(t.Context(), Asker{Base: s.URL, Transport: http.DefaultTransport})
	want := []Setting{{DevMode, "True", "/server_info"}, {TensorParallel, "8", "/server_info"}, {PipelineParallel, "1", "/server_info"}, {DataParallel, "2", "/server_info"}}
	if d := cmp.Diff(want, f.Settings); d != "" {
		t.Error(d)
	}
}
