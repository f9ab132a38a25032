package real

import (
	"fmt"
	"testing"

	"assay/plan"
)

// TestField_realengines_14: greedy answers of llama.cpp differ where a part of the prompt comes from its cache. A plan that says
// cache_prompt: false has every prompt computed as a whole; without it the second request of the same text is served from the cache.
func TestField_realengines_14(t *testing.T) {
	e := llamaCpp(t)
	const shape = `{sweep: {concurrency: 1, requests: 3}}`
	for _, sampling := range []string{"temperature: 0, max_tokens: 4", "temperature: 0, max_tokens: 4, cache_prompt: false"} {
		points := e.run(t, fmt.Sprintf("workload: {kind: synthetic, input_len: 40, lengths: words, shared_prompts: 1, salt: none, sampling: {%s}}", sampling), "protocol: "+shape)
		input, _, cached := totals(t, points)
		if off := sampling != "temperature: 0, max_tokens: 4"; off != (cached == 0) {
			t.Errorf("{%s}: %d of %d prompt tokens came from the cache", sampling, cached, input)
		}
	}
	if _, err := plan.Parse([]byte("apiVersion: assay/v1\nname: n\nmodel: {name: m}\nserver: {url: http://h, engine: vllm}\nworkload: {sampling: {cache_prompt: false}}\nprotocol: " + shape + "\n")); err != nil {
		t.Error(err)
	}
}
