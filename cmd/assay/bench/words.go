package bench

import (
	"errors"
	"regexp"
	"strings"

	"assay/fault"
)

// inFlags says a fault of the plan that bench made in the words of its flags, for a user who never wrote that plan.
func inFlags(err error) error {
	var f *fault.Fault
	if err == nil || !errors.As(err, &f) {
		return err
	}
	words := strings.NewReplacer(flagsOfKeys()...)
	said := *f
	said.Text = words.Replace(placeOfPlan.ReplaceAllString(f.Text, ""))
	said.Hint = words.Replace(headerInPlan.ReplaceAllString(f.Hint, "$1 '$2'"))
	return &said
}

// placeOfPlan is where something stands in the plan's text, which is one line.
var placeOfPlan = regexp.MustCompile(`line 1, column \d+: `)

// headerInPlan is a hint that writes a header as a plan does.
var headerInPlan = regexp.MustCompile(`(client\.headers_env): \{(.+)\}`)

// flagsOfKeys pairs keys of a plan with the flags that set them. Longer keys stand before those they begin with.
func flagsOfKeys() []string {
	return []string{
		"model.name", "--model",
		"server.engine", "--engine", "server.endpoint", "--endpoint", "server.token_env", "--token-env", "server.token_file", "--token-file",
		"server.urls", "the URL", "server.url", "the URL",
		"client.headers_env.", "--header-env ", "client.headers_env", "--header-env", "client.headers.", "--header ", "client.headers", "--header",
		"client.balance", "--balance",
		"server.ready.timeout", "--ready-timeout", "client.timeout", "--timeout", "client.drain", "--drain",
		"workload.input_len", "--input-len", "workload.sampling.max_tokens", "--output-len", "workload.seed", "--seed",
		"workload.kind", "--dataset-kind", "workload.dataset.path", "--dataset", "workload.dataset.builtin", "--dataset", "workload.dataset", "--dataset",
		"protocol.sweep.concurrency", "--concurrency", "protocol.matrix.concurrency", "--concurrency", "protocol.serve.rate", "--rate",
		"protocol.matrix.contexts", "--contexts", "protocol.matrix.duration", "--duration", "protocol.matrix.prefill_duration", "--prefill-duration", "protocol.matrix.max_tokens", "--output-len",
		"protocol.sweep.requests", "--requests", "protocol.serve.requests", "--requests",
		"protocol.sweep.duration", "--duration", "protocol.serve.duration", "--duration",
		"protocol.sweep.warmup.duration", "--warmup", "protocol.serve.window.warmup", "--warmup", "protocol.serve.window", "--warmup",
		"protocol.matrix", "--contexts with --concurrency",
	}
}
