//go:build linux

package paced

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// start serves until stop is called, which gives the log.
func start(t *testing.T, cfg Config) (url string, stop func() []Truth) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	log := NewLog(&out)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- Serve(ctx, l.(*net.TCPListener), cfg, log) }()
	stop = sync.OnceValue(func() []Truth {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		l.Close()
		if err := log.Close(); err != nil {
			t.Error(err)
		}
		all, err := ReadLog(&out)
		if err != nil {
			t.Error(err)
		}
		return all
	})
	t.Cleanup(func() { stop() })
	return "http://" + l.Addr().String(), stop
}

// answer is one stream as a plain client reads it.
type answer struct {
	id     string
	roles  int
	sentNS []int64
	finish string
	usage  int
	done   bool
}

func ask(url string, tokens int) (a answer, err error) {
	body := fmt.Sprintf(`{"messages":[{"role":"user","content":"\"max_tokens\":3"}],"max_tokens":%d,"stream":true,"stream_options":{"include_usage":true}}`, tokens)
	res, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return a, err
	}
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		if a.done = data == "[DONE]"; a.done {
			continue
		}
		if err := a.take(data); err != nil {
			return a, err
		}
	}
	return a, lines.Err()
}

func (a *answer) take(data string) error {
	var c struct {
		ID      string
		Choices []struct {
			Delta  struct{ Role, Content string }
			Finish string `json:"finish_reason"`
		}
		Usage struct {
			Completion int `json:"completion_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(data), &c); err != nil {
		return err
	}
	a.id, a.usage = c.ID, c.Usage.Completion
	for _, choice := range c.Choices {
		a.finish = choice.Finish
		if choice.Delta.Role != "" {
			a.roles++
		}
		if text := strings.TrimSpace(choice.Delta.Content); text != "" {
			ns, err := strconv.ParseInt(text, 16, 64)
			if err != nil {
				return err
			}
			a.sentNS = append(a.sentNS, ns)
		}
	}
	return nil
}

// TestTruthTravels asks for streams of every kind of schedule: texts, log and counts agree.
func TestTruthTravels(t *testing.T) {
	cases := map[string]Config{
		"phases of their own": {TTFT: time.Millisecond, ITL: 2 * time.Millisecond, Events: 1},
		"in groups":           {ITL: 3 * time.Millisecond, Groups: 2, Events: 1},
		"as fast as can be":   {Events: 1},
		"several a write":     {Events: 7},
	}
	for name, cfg := range cases {
		t.Run(name, func(t *testing.T) {
			before := Monotonic()
			url, stop := start(t, cfg)
			answers := make([]answer, 20)
			var asking sync.WaitGroup
			for i := range answers {
				asking.Go(func() {
					var err error
					if answers[i], err = ask(url, 10+i); err != nil {
						t.Error(err)
					}
				})
			}
			asking.Wait()
			truths := map[string]Truth{}
			for _, truth := range stop() {
				truths[ID(truth.N)] = truth
			}
			for i, a := range answers {
				truth := truths[a.id]
				if a.roles != 1 || a.finish != "length" || a.usage != 10+i || !a.done || len(a.sentNS) != 10+i {
					t.Fatalf("answer %d: %+v", i, a)
				}
				if !truth.Whole || fmt.Sprint(truth.SentNS) != fmt.Sprint(a.sentNS) {
					t.Fatalf("answer %d: sent %v, log %+v", i, a.sentNS, truth)
				}
				checkTimes(t, cfg, truth, before)
			}
		})
	}
}

func checkTimes(t *testing.T, cfg Config, truth Truth, before int64) {
	t.Helper()
	last := max(before, truth.ArrivedNS)
	for i, at := range truth.SentNS {
		if at < last || i == 0 && at < truth.ArrivedNS+cfg.TTFT.Nanoseconds() {
			t.Fatalf("token %d sent at %d, arrived at %d, the one before at %d", i, at, truth.ArrivedNS, last)
		}
		last = at
	}
	if truth.EndedNS < last || truth.EndedNS > Monotonic() {
		t.Fatalf("ended at %d, last token at %d", truth.EndedNS, last)
	}
}

// TestReaderThatWaits leaves a stream lying until the kernel's buffers are full: nothing of it is lost.
func TestReaderThatWaits(t *testing.T) {
	const tokens = 60_000
	url, stop := start(t, Config{Events: 1})
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := `{"max_tokens":` + strconv.Itoa(tokens) + `}`
	fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	other, err := ask(url, 5) // the server goes on beside it
	if err != nil || len(other.sentNS) != 5 {
		t.Errorf("the other stream: %d tokens, %v", len(other.sentNS), err)
	}
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if n := bytes.Count(text, []byte(`"content":" `)); n != tokens || err != nil {
		t.Errorf("%d tokens, %v", n, err)
	}
	for _, truth := range stop() {
		if !truth.Whole {
			t.Errorf("request %d is not whole: %d tokens", truth.N, len(truth.SentNS))
		}
	}
}

// TestClientThatLeaves is logged as far as it went.
func TestClientThatLeaves(t *testing.T) {
	url, stop := start(t, Config{ITL: time.Millisecond, Events: 1})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/completions", strings.NewReader(`{"max_tokens":1000000}`))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(res.Body, make([]byte, 4000)); err != nil {
		t.Fatal(err)
	}
	cancel()
	res.Body.Close()
	if _, err := ask(url, 3); err != nil {
		t.Error(err)
	}
	all := stop()
	if len(all) != 2 {
		t.Fatalf("%d requests in the log", len(all))
	}
	for _, truth := range all {
		if left := truth.N == 0; truth.Whole == left || len(truth.SentNS) < 3 {
			t.Errorf("request %d: whole %v, %d tokens", truth.N, truth.Whole, len(truth.SentNS))
		}
	}
}
