package real

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"testing"
)

// llamaCpp is llama.cpp's server with a model small enough for a CPU. One compute thread: two spin on a busy machine, each for the other.
func llamaCpp(t *testing.T) *engine {
	t.Helper()
	server, model := os.Getenv("ASSAY_LLAMA_SERVER"), os.Getenv("ASSAY_LLAMA_MODEL")
	if server == "" {
		server = cache(t, "engines", "llama-server")
	}
	if model == "" {
		model = cache(t, "models", "SmolLM2-135M-Instruct.Q4_1.gguf")
	}
	for _, name := range []string{server, model} {
		if _, err := os.Stat(name); err != nil {
			t.Skipf("no real engine here, `make setup` gets one: %v", err)
		}
	}
	head := fmt.Sprintf(`model: {name: smollm2, path: %q}
server: {engine: llamacpp, runtime: process, command: [%q], args: ["--parallel", "2", "--ctx-size", "4096", "-t", "1"], ready: {timeout: 2m}, endpoint: chat}`, model, server)
	return start(t, &engine{kind: "llama.cpp", head: head, block: 1})
}

func TestLlamaCpp(t *testing.T) {
	e := llamaCpp(t)
	common(t, e)
	t.Run("slots", e.slotsAreFree)
}

// slotsAreFree asks the server for its slots, after loads that were cut off: none works on anything.
func (e *engine) slotsAreFree(t *testing.T) {
	var slots []struct {
		ID   int  `json:"id"`
		Busy bool `json:"is_processing"`
	}
	e.get(t, "/slots", func(r *http.Response) error { return json.NewDecoder(r.Body).Decode(&slots) })
	for _, s := range slots {
		if s.Busy {
			t.Errorf("slot %d is busy", s.ID)
		}
	}
	if len(slots) != 2 {
		t.Errorf("%d slots", len(slots))
	}
}
