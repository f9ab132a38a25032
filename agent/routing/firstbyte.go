package routing

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"assay/result"
)

const (
	tries        = 7 // of each way, after one that does not count
	streamTokens = 4 // of the stream: one that is held back until its end comes later than its first
)

// firstByte compares the time to the first byte of a small stream's body, straight to a server and by way of the router, in turn. A header that
// comes at once would hide a body that is held back.
func (r Request) firstByte(ctx context.Context, note func(string, ...any)) *result.RoutedFirstByte {
	var direct, router []time.Duration
	for try := range tries + 1 {
		straight, err := r.first(ctx, r.Servers[try%len(r.Servers)])
		if err != nil {
			note("the time to the first byte could not be compared: a server: %v", err)
			return nil
		}
		through, err := r.first(ctx, r.Router)
		if err != nil {
			note("the time to the first byte could not be compared: the router: %v", err)
			return nil
		}
		if try > 0 {
			direct, router = append(direct, straight), append(router, through)
		}
	}
	out := result.RoutedFirstByte{DirectMS: medianMS(direct), RouterMS: medianMS(router), Tries: tries}
	out.CostMS = out.RouterMS - out.DirectMS
	return &out
}

// first is the time until the first byte of the body of a small stream is there.
func (r Request) first(ctx context.Context, base string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()
	path, body := r.small(streamTokens)
	begun := time.Now()
	resp, err := r.asker(base, session(0)).Send(ctx, http.MethodPost, path, body)
	if err != nil {
		return 0, fmt.Errorf("ask %s: %w", path, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s answered %d", path, resp.StatusCode)
	}
	var b [1]byte
	if _, err := resp.Body.Read(b[:]); err != nil {
		return 0, fmt.Errorf("read the answer of %s: %w", path, err)
	}
	took := time.Since(begun)
	drain(resp)
	return took, nil
}

func medianMS(took []time.Duration) float64 {
	slices.Sort(took)
	return float64(took[len(took)/2].Microseconds()) / 1000
}
