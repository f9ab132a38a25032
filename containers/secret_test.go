package containers

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"assay/containers/enginetest"
	"assay/containers/instancetest"
	"assay/fault"
)

const secret = `sk-echo"0123456789`

// echo answers a path with what it was sent as a key, and the others as a server does.
func echo(path string, answer func(w http.ResponseWriter, key string)) http.Handler {
	rest := enginetest.Handler("m")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path {
			rest.ServeHTTP(w, r)
			return
		}
		answer(w, r.Header.Get("Authorization"))
	})
}

func refusing(status int) func(http.ResponseWriter, string) {
	return func(w http.ResponseWriter, key string) {
		w.WriteHeader(status)
		fmt.Fprint(w, "bad key "+key)
	}
}

// TestNoTokenInWords: a server that repeats the token has it said in no error and no identity.
func TestNoTokenInWords(t *testing.T) {
	asJSON := func(key string) string { b, _ := json.Marshal(key); return string(b) }
	const chat = "/v1/chat/completions"
	for name, h := range map[string]http.Handler{
		"health":       echo("/health", refusing(401)),
		"models":       echo("/v1/models", refusing(403)),
		"models, long": echo("/v1/models", func(w http.ResponseWriter, key string) { refusing(401)(w, strings.Repeat("x", 250)+key) }),
		"wrong model":  echo("/v1/models", func(w http.ResponseWriter, key string) { fmt.Fprintf(w, `{"data":[{"id":%s}]}`, asJSON(key)) }),
		"version":      echo("/version", func(w http.ResponseWriter, key string) { fmt.Fprintf(w, `{"version":%s}`, asJSON(key)) }),
		"request":      echo(chat, refusing(400)),
		"error object": echo(chat, func(w http.ResponseWriter, key string) {
			w.WriteHeader(500)
			fmt.Fprintf(w, `{"error":{"message":%s}}`, asJSON(key))
		}),
		"stream":        echo(chat, func(w http.ResponseWriter, key string) { fmt.Fprintf(w, "data: {\"error\":%s}\n\n", asJSON(key)) }),
		"broken stream": echo(chat, func(w http.ResponseWriter, key string) { fmt.Fprintf(w, "data: %s\n\n", key) }),
		"no HTTP at all": echo("/health", func(w http.ResponseWriter, key string) {
			c, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				fmt.Fprint(c, key+"\r\n\r\n")
				c.Close()
			}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			id, err := Ready(t.Context(), servedBy(t, h), instancetest.Preset(t, "vllm"), ReadyOptions{Access: Access{Token: secret}, Model: "m", Timeout: 2 * time.Second}, func(string) {})
			f := fault.Of(err, fault.Server)
			b, _ := json.Marshal(map[string]any{"id": id, "fault": f})
			if text := string(b) + fmt.Sprint(err); strings.Contains(text, "echo") || !strings.Contains(text, fault.Hidden) {
				t.Errorf("said: %s", text)
			}
		})
	}
}

func TestNoTokenInAScrapeError(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter, string){
		"refused": refusing(401),
		"no form": func(w http.ResponseWriter, key string) { fmt.Fprintf(w, "vllm:num_requests_running %s\n", key) },
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Scrape(t.Context(), servedBy(t, echo("/metrics", answer)).BaseURLs(), instancetest.Preset(t, "vllm"), Access{Token: secret})
			if err == nil || strings.Contains(err.Error(), "echo") || strings.Contains(err.Error(), "sk-") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestAnswersAreBounded: a list of models that never ends is given up after its bound, and the token decides.
func TestAnswersAreBounded(t *testing.T) {
	sent := make(chan int64, 1000)
	h := echo("/v1/models", func(w http.ResponseWriter, _ string) {
		n, _ := io.Copy(w, endless{})
		sent <- n
	})
	p := instancetest.Preset(t, "vllm")
	p.HealthPath = "" // not every server lists its models: no patience with those that have no health either
	if _, err := Ready(t.Context(), servedBy(t, h), p, ReadyOptions{Model: "m"}, func(string) {}); err != nil {
		t.Fatal(err)
	}
	if n := <-sent; n > 32<<20 { // what a socket buffers comes on top of the bound
		t.Errorf("%d bytes were taken", n)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

// TestHintForAServerThatIsNotOurs: it has no log here.
func TestHintForAServerThatIsNotOurs(t *testing.T) {
	inst := servedBy(t, echo("/health", refusing(503)))
	_, err := Ready(t.Context(), inst, instancetest.Preset(t, "vllm"), ReadyOptions{Timeout: time.Millisecond * 300}, func(string) {})
	f := fault.Of(err, fault.Server)
	if want := "is the address right? does it answer GET " + inst.BaseURLs()[0] + "/health?"; f.Code != "server.not_ready" || f.Hint != want {
		t.Errorf("%s, hint %q", f.Code, f.Hint)
	}
}
