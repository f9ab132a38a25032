package ready

import (
	"context"
	"fmt"
	"net/http"

	"assay/containers/engine"
	"assay/fault"
)

// tokenTries is how often a server may answer the test request with an error before that is its last word.
const tokenTries = 3

// tokens is the proof: one small streamed request brings a token. The first one may take long, while kernels are compiled.
func (w *waiter) tokens(ctx context.Context) (bool, string, error) {
	path, body := engine.TestRequest(w.Endpoint, w.Model)
	resp, err := w.ask.Send(ctx, http.MethodPost, path, body)
	if err != nil {
		r := w.ask.Failed(err)
		return false, fmt.Sprintf("%s: %s", path, r), w.refused(r)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return w.denied(path, w.ask.Read(resp))
	}
	problem := engine.FirstToken(resp.Body)
	if problem == "" {
		return true, "", nil
	}
	return w.failed(fmt.Sprintf("%s streamed %s", path, engine.FirstLine(w.ask.Hide(problem))))
}

// denied is an error status: one of the request's is final, one of the server's may pass.
func (w *waiter) denied(path string, r engine.Answer) (bool, string, error) {
	if err := w.refused(r); err != nil {
		return false, "", err
	}
	seen := fmt.Sprintf("%s answered %s", path, r)
	if r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable || r.Status == http.StatusBadGateway {
		return false, seen, nil
	}
	return w.failed(seen)
}

// failed counts answers without a token. A dying engine first answers wrongly and then ends, so the exit gets time to be noticed.
func (w *waiter) failed(seen string) (bool, string, error) {
	if w.tries++; w.tries < tokenTries {
		return false, seen, nil
	}
	return false, seen, fault.New(w.Layer, "no_tokens", "try the same request by hand, and look at the server's log", "%s is up but no token comes: %s", w.who(), seen)
}
