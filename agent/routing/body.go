package routing

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"assay/result"
)

// largeBody is longer than the histories of agents, and than what routers take by default.
const largeBody = 8 << 20

// body sends a large body that no server need work on: it is no request, and a server says so at once. What the router answers by itself is known by
// asking a server the same.
func (r Request) body(ctx context.Context) *result.RoutedBody {
	out := result.RoutedBody{Bytes: largeBody, Status: r.sendLarge(ctx, r.Router)}
	if out.Accepted = acceptable(out.Status); out.Accepted {
		return &out
	}
	out.Direct = r.sendLarge(ctx, r.Servers[0])
	out.Accepted = out.Direct == out.Status
	return &out
}

// acceptable tells a status that only somebody can give who has read the body.
func acceptable(status int) bool {
	return status >= 200 && status < 500 && status != http.StatusRequestEntityTooLarge
}

// sendLarge gives the status of the answer, 0 when the connection broke.
func (r Request) sendLarge(ctx context.Context, base string) int {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	path, _ := r.small(1)
	resp, err := r.asker(base, session(0)).Send(ctx, http.MethodPost, path, bytes.Repeat([]byte{' '}, largeBody))
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	drain(resp)
	return resp.StatusCode
}

// drain reads an answer to its end, so that its server sees no client that went away.
func drain(resp *http.Response) { _, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, answerBytes)) }
