package foreigntest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// load is what is asked of the server.
type load struct {
	url, model  string
	prompts     []string
	body        map[string]any
	requests    int
	concurrency int
	rate        float64
}

// request is one as it was sent: instants on the machine's monotonic clock, in nanoseconds.
type request struct {
	start, end int64
	chunks     []int64
	in, out    int
	err        string
}

func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // every Linux has it
	return t.Nano()
}

// wall is by how much UTC is ahead of the monotonic clock.
func wall() int64 { return time.Now().UnixNano() - monotonic() }

// drive sends the requests, at most concurrency at once or each at its time. half holds half of them, and dates each as early as it took.
func (l load) drive(half bool) []request {
	slots := l.concurrency
	if half {
		slots = max(1, slots/2)
	}
	if slots == 0 {
		slots = l.requests
	}
	next, out := make(chan int), make([]request, l.requests)
	var all sync.WaitGroup
	for range slots {
		all.Go(func() {
			for i := range next {
				out[i] = l.send(i)
				if half {
					out[i].start -= out[i].end - out[i].start
				}
			}
		})
	}
	tick := time.NewTicker(max(time.Nanosecond, time.Duration(1e9/max(l.rate, 1e-3))))
	defer tick.Stop()
	for i := range l.requests {
		if l.rate > 0 && i > 0 {
			<-tick.C
		}
		next <- i
	}
	close(next)
	all.Wait()
	return out
}

func (l load) send(i int) request {
	body := map[string]any{"model": l.model, "stream": true, "stream_options": map[string]any{"include_usage": true},
		"messages": []map[string]string{{"role": "user", "content": l.prompts[i%len(l.prompts)]}}}
	for k, v := range l.body {
		body[k] = v
	}
	b, _ := json.Marshal(body) // plain data
	r := request{start: monotonic()}
	if err := l.stream(b, &r); err != nil {
		r.err = err.Error()
	}
	r.end = monotonic()
	return r
}

func (l load) stream(body []byte, r *request) error {
	q, err := http.NewRequest(http.MethodPost, l.url+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return err
	}
	q.Header.Set("Content-Type", "application/json")
	if key := os.Getenv("OPENAI_API_KEY"); key != "" {
		q.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(res.Body, 300))
		return fmt.Errorf("HTTP %d: %s", res.StatusCode, said)
	}
	in := bufio.NewScanner(res.Body)
	for in.Scan() {
		data, is := strings.CutPrefix(in.Text(), "data: ")
		if !is || data == "[DONE]" {
			continue
		}
		if err := r.event([]byte(data)); err != nil {
			return err
		}
	}
	return in.Err()
}

func (r *request) event(data []byte) error {
	var e struct {
		Choices []struct {
			Delta struct {
				Content string `json:"content"`
			} `json:"delta"`
		} `json:"choices"`
		Usage *struct {
			Prompt     int `json:"prompt_tokens"`
			Completion int `json:"completion_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return err
	}
	if e.Usage != nil {
		r.in, r.out = e.Usage.Prompt, e.Usage.Completion
	}
	if len(e.Choices) > 0 && e.Choices[0].Delta.Content != "" {
		r.chunks = append(r.chunks, monotonic())
	}
	return nil
}

// rows are the prompts of a file of JSON lines, in the field of this name.
func rows(name, field string) ([]string, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range strings.Lines(string(b)) {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			return nil, err
		}
		text, ok := row[field].(string)
		if !ok {
			return nil, fmt.Errorf("%s: a row has no %s", name, field)
		}
		out = append(out, text)
	}
	if len(out) == 0 {
		return nil, errors.New(name + " is empty")
	}
	return out, nil
}

// made are prompts of so many words, each another one.
func made(n, words int) []string {
	out := make([]string, max(1, n))
	for i := range out {
		out[i] = strings.TrimSpace("made-" + strconv.Itoa(i) + strings.Repeat(" word", max(0, words-1)))
	}
	return out
}

func number(text string) int {
	n, _ := strconv.Atoi(text) // "" and what is none are 0
	return n
}

func writeJSON(name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(name, b, 0o644)
}
