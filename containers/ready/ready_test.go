package ready

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/containers/engine"
	"assay/containers/enginetest"
	"assay/fault"
)

// inMemory answers requests without sockets, so that a test can run on synthetic time. A path may fail or hang.
type inMemory struct {
	h     http.Handler
	fails map[string]error
	hangs string
}

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := m.fails[r.URL.Path]; err != nil {
		return nil, err
	}
	if m.hangs != "" && r.URL.Path == m.hangs {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	w := httptest.NewRecorder()
	m.h.ServeHTTP(w, r)
	return w.Result(), nil
}

func named(t *testing.T, name string) engine.Preset {
	t.Helper()
	p, err := engine.PresetNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// at answers a path with a status until some time has passed.
func at(path string, code int, until time.Duration) http.Handler {
	begun := time.Now()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path && time.Since(begun) < until {
			w.WriteHeader(code)
			return
		}
		enginetest.Handler("m").ServeHTTP(w, r)
	})
}

const long = 1000 * time.Hour

// Each stage has a limit of its own, and the fault names the stage and the key that gives it more.
func TestEachStageHasItsLimit(t *testing.T) {
	limits := Limits{All: 10 * time.Hour, Port: time.Hour, Health: 20 * time.Minute, Model: 5 * time.Minute, Token: 10 * time.Minute}
	for _, c := range []struct {
		path, key, stage string
		limit            time.Duration
	}{
		{"/health", "server.ready.health (20m0s)", StageHealth, limits.Health},
		{"/v1/models", "server.ready.model (5m0s)", StageModel, limits.Model},
		{"/v1/chat/completions", "server.ready.token (10m0s)", StageTokens, limits.Token},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := Server{Layer: fault.Server, Base: "http://127.0.0.1:1", Preset: named(t, "vllm"), Model: "m", Transport: inMemory{h: at(c.path, 503, long)}}
			begun := time.Now()
			_, err := Wait(t.Context(), s, limits, func(string) {})
			enginetest.WantFault(t, err, "server.not_ready", c.key, fmt.Sprintf("%q", c.stage), "503")
			if took := time.Since(begun); took < c.limit || took > c.limit+time.Minute {
				t.Errorf("%s: gave up after %s", c.stage, took)
			}
		})
	}
}

// A stage that is passed in time leaves the next one its whole limit. Who waits is told what for.
func TestLimitsDoNotAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			late := map[string]time.Duration{"/health": 9 * time.Minute, "/v1/models": 18 * time.Minute, "/v1/chat/completions": 27 * time.Minute}
			if time.Since(begun) < late[r.URL.Path] {
				w.WriteHeader(503)
				return
			}
			enginetest.Handler("m").ServeHTTP(w, r)
		})
		s := Server{Layer: fault.Server, Base: "http://127.0.0.1:1", Preset: named(t, "vllm"), Model: "m", Transport: inMemory{h: h}}
		ten := 10 * time.Minute
		var heard []string
		told, err := Wait(t.Context(), s, Limits{Health: ten, Model: ten, Token: ten}, func(text string) { heard = append(heard, text) })
		if err != nil {
			t.Fatal(err)
		}
		if want := "health: not yet after 15s, last answer: /health answered 503"; !slices.ContainsFunc(heard, func(text string) bool { return strings.HasPrefix(text, want) }) {
			t.Errorf("told %q, want %q", heard[:min(6, len(heard))], want)
		}
		for i, want := range []float64{0, 0, 540, 540, 540} {
			if got := told.Stages[i].Seconds; got < want || got > want+1 {
				t.Errorf("%s took %v s, want %v", told.Stages[i].Name, got, want)
			}
		}
	})
}

// A server may answer the test request wrongly for a moment, while it warms up or dies: its third wrong answer is its last word.
func TestThirdWrongAnswer(t *testing.T) {
	for tries, code := range map[time.Duration]string{tokenTries - 1: "", tokenTries: "server.no_tokens"} {
		synctest.Test(t, func(t *testing.T) {
			h := at("/v1/chat/completions", 500, tries*pollInterval-pollInterval/2)
			_, err := Wait(t.Context(), Server{Layer: fault.Server, Base: "http://127.0.0.1:1", Preset: named(t, "vllm"), Model: "m", Transport: inMemory{h: h}}, Limits{All: long}, func(string) {})
			if code != "" {
				enginetest.WantFault(t, err, code, "500")
			} else if err != nil {
				t.Errorf("%d wrong answers: %v", tries, err)
			}
		})
	}
}

// logFile is a log that a test writes to.
func logFile(t *testing.T) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "server.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func write(t *testing.T, f io.Writer, format string, args ...any) {
	t.Helper()
	if _, err := fmt.Fprintf(f, format, args...); err != nil {
		t.Error(err)
	}
}

// waitWithLog waits for a server whose log is followed.
func waitWithLog(t *testing.T, f *os.File, h http.Handler, quiet time.Duration, told func(string)) error {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	log := NewLog(f.Name(), named(t, "vllm"), told)
	done := make(chan struct{})
	go func() { defer close(done); log.Watch(ctx, quiet, stop) }()
	s := Server{Layer: fault.Server, Base: "http://127.0.0.1:1", Preset: named(t, "vllm"), Model: "m", Transport: inMemory{h: h}, Log: log}
	_, err := Wait(ctx, s, Limits{All: long}, func(string) {})
	stop(nil)
	<-done
	return err
}

// A server whose log stands still is given up, whatever its limits; one that tells something now and then is waited for.
func TestNoProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := logFile(t)
		write(t, f, "INFO Starting to load model m...\n")
		begun := time.Now()
		err := waitWithLog(t, f, at("/health", 503, long), 10*time.Minute, func(string) {})
		enginetest.WantFault(t, err, "server.no_progress", "nothing new for 10m0s", "Starting to load model m", "loading weights for", `"health"`)
		if took := time.Since(begun); took < 10*time.Minute || took > 11*time.Minute {
			t.Errorf("gave up after %s", took)
		}
	})
}

func TestProgressIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := logFile(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			for i := 0; ; i++ {
				select {
				case <-ctx.Done():
					return
				case <-time.After(8 * time.Minute):
					write(t, f, "\rLoading: %d%%", i) // a bar without an end of line
				}
			}
		}()
		if err := waitWithLog(t, f, at("/health", 503, 3*time.Hour), 10*time.Minute, func(string) {}); err != nil {
			t.Error(err)
		}
	})
}

// What the server logs of our own questions is no progress.
func TestEchoIsNoProgress(t *testing.T) {
	for _, loaded := range []bool{false, true} { // else its token is what is waited for
		echoIsNoProgress(t, loaded)
	}
}

func echoIsNoProgress(t *testing.T, loaded bool) {
	synctest.Test(t, func(t *testing.T) {
		f := logFile(t)
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			write(t, f, "INFO:     127.0.0.1:1 - \"%s %s HTTP/1.1\" 503 Service Unavailable\n", r.Method, r.URL.Path)
			if r.Method == http.MethodGet && loaded {
				enginetest.Handler("m").ServeHTTP(w, r)
				return
			}
			w.WriteHeader(503)
		})
		err := waitWithLog(t, f, h, 10*time.Minute, func(string) {})
		enginetest.WantFault(t, err, "server.no_progress", "said nothing at all for 10m0s")
	})
}

// What a server says is heard while it starts, to its last words; of much at once the last lines are, and no echo of what it is asked.
func TestSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := logFile(t)
		var heard []string
		ctx, stop := context.WithCancelCause(t.Context())
		log := NewLog(f.Name(), named(t, "vllm"), func(string) {})
		log.Said = func(line string) { heard = append(heard, line) }
		done := make(chan struct{})
		go func() { defer close(done); log.Watch(ctx, time.Hour, stop) }()
		write(t, f, "INFO loading\nINFO: 127.0.0.1:1 - \"GET /health HTTP/1.1\" 503\n\n")
		<-time.After(2*lookInterval + lookInterval/4) // apart from its looks
		for i := range saidAtOnce + 5 {
			write(t, f, "shard %d\n", i)
		}
		<-time.After(2*lookInterval + lookInterval/4)
		write(t, f, "INFO: ready\nnot yet a lin")
		stop(nil)
		<-done
		if len(heard) != 1+saidAtOnce+1 || heard[0] != "INFO loading" || heard[1] != "shard 5" || heard[len(heard)-1] != "INFO: ready" {
			t.Errorf("%q", heard)
		}
	})
}

// The parts of a start are told when they begin, and kept with how long they took.
func TestPartsOfAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := logFile(t)
		steps := []struct {
			after time.Duration
			line  string
		}{
			{20 * time.Second, "INFO non-default args: {'tensor_parallel_size': 8}"}, {time.Second, "INFO Starting to load model m..."},
			{100 * time.Second, "INFO Model loading took 14.2 GiB memory and 95.5 seconds"}, {0, "INFO Model loading took 14.2 GiB memory and 97.5 seconds"}, {0, "INFO Model loading took 14.2 GiB memory and 96.5 seconds"},
			{50 * time.Second, "INFO Available KV cache memory: 26 GiB"}, {30 * time.Second, "Capturing CUDA graphs: 0%"}, {9 * time.Second, "INFO Graph capturing finished in 8 secs, took 1 GiB"},
			{time.Second, "INFO:     Application startup complete."},
		}
		go func() {
			<-time.After(lookInterval / 2) // between two looks, so that each line is seen by a known one
			for _, s := range steps {
				<-time.After(s.after)
				write(t, f, "%s\n", s.line)
			}
		}()
		var heard []string
		ctx, stop := context.WithCancelCause(t.Context())
		log := NewLog(f.Name(), named(t, "vllm"), func(p string) { heard = append(heard, p) })
		done := make(chan struct{})
		go func() { defer close(done); log.Watch(ctx, time.Hour, stop) }()
		<-time.After(5 * time.Minute)
		stop(nil)
		<-done
		if d := cmp.Diff([]string{"weights", "memory", "graphs", "up"}, heard); d != "" {
			t.Error(d)
		}
		var got []string
		for _, p := range log.Parts() {
			got = append(got, fmt.Sprintf("%s at %.0f for %.1f by %s", p.Phase, p.AtS, p.Seconds, p.Source))
		}
		want := []string{"weights at 21 for 97.5 by log", "memory at 171 for 30.0 by seen", "graphs at 201 for 8.0 by log", "up at 211 for 0.0 by "}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if s, ok := engine.Found(log.Settings(), engine.TensorParallel); !ok || s.Value != "8" {
			t.Errorf("settings %v", log.Settings())
		}
	})
}

// A log whose middle is cut out is read on.
func TestLogThatIsCut(t *testing.T) {
	f := logFile(t)
	log := NewLog(f.Name(), named(t, "vllm"), func(string) {})
	write(t, f, "%s\n", strings.Repeat("x", 1000))
	log.look()
	if err := f.Truncate(10); err != nil {
		t.Fatal(err)
	}
	log.look()
	if _, err := f.Seek(0, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	write(t, f, "\nINFO Starting to load model m...\n")
	if parts := log.Parts(); len(parts) != 1 || parts[0].Phase != engine.LoadWeights {
		t.Errorf("%+v", parts)
	}
}

// A fault that ends the wait is its error.
func TestFaultEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { stop(fault.New(fault.Server, "gpu_oom", "lower it", "no memory")) })
		s := Server{Layer: fault.Server, Base: "http://127.0.0.1:1", Preset: named(t, "vllm"), Model: "m", Transport: inMemory{h: at("/health", 503, long)}}
		_, err := Wait(ctx, s, Limits{All: long}, func(string) {})
		enginetest.WantFault(t, err, "server.gpu_oom", "no memory")
	})
}

// A server that listens on the loopback of its container is named as such, not waited for.
func TestOutOfReach(t *testing.T) {
	for evidence, code := range map[string]string{"": "server.not_ready", "inside, port 8000 is listened on at 127.0.0.1 alone": "server.loopback_only"} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			ctx, cancel := context.WithTimeoutCause(t.Context(), 30*time.Minute, ErrLate)
			defer cancel()
			s := Server{Layer: fault.Server, Base: "http://127.0.0.1:1", Preset: named(t, "vllm"), Model: "m", Inside: func() string { return evidence },
				Transport: inMemory{h: at("/", 200, 0), fails: map[string]error{"/health": io.EOF}}}
			_, err := Wait(ctx, s, Limits{All: 30 * time.Minute}, func(string) {})
			enginetest.WantFault(t, err, code, evidence)
			if took := time.Since(begun); evidence != "" && took > time.Minute {
				t.Errorf("it took %s", took)
			}
			if errors.Is(err, io.EOF) {
				t.Error("the transport's error is no cause")
			}
		})
	}
}

// TestOutOfReachInAShortTime: a wait that ends before the first look, by its time, a stage's limit or its log's silence, is told as what it is.
func TestOutOfReachInAShortTime(t *testing.T) {
	const short = 5 * time.Second
	for evidence, codes := range map[string][3]string{
		"": {"server.not_ready", "server.not_ready", "server.no_progress"}, "inside, port 8000": {"server.loopback_only", "server.loopback_only", "server.loopback_only"},
	} {
		for i, code := range codes {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancelCause(t.Context())
				defer stop(nil)
				time.AfterFunc(short, func() {
					stop([]error{ErrLate, overstayed{stage{key: "server.ready.health", limit: short}}, silence{limit: short}}[i])
				})
				s := Server{Layer: fault.Server, Base: "http://127.0.0.1:1", Preset: named(t, "vllm"), Model: "m", Log: NewLog("/runs/r1/server.log", named(t, "vllm"), func(string) {}),
					Inside: func() string { return evidence }, Transport: inMemory{h: at("/health", 503, long)}}
				_, err := Wait(ctx, s, Limits{All: short}, func(string) {})
				enginetest.WantFault(t, err, code, evidence)
				if f := fault.Of(err, fault.Client); evidence == "" && !strings.Contains(f.Hint, "/runs/r1/server.log") {
					t.Errorf("%s names no log: %s", code, f.Hint)
				}
			})
		}
	}
}

// TestCallersEndIsNoOutOfReach: who ends the wait is told nothing of the server.
func TestCallersEndIsNoOutOfReach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		s := Server{Layer: fault.Server, Base: "http://127.0.0.1:1", Preset: named(t, "vllm"), Model: "m", Inside: func() string { return "inside" }, Transport: inMemory{h: at("/health", 503, long)}}
		if _, err := Wait(ctx, s, Limits{All: long}, func(string) {}); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}

// TestUntrustedCertificate: no waiting makes a certificate good, at whichever stage it is seen first.
func TestUntrustedCertificate(t *testing.T) {
	for _, name := range []string{"vllm", "openai"} {
		srv := httptest.NewUnstartedServer(enginetest.Handler("m"))
		srv.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are broken off
		srv.StartTLS()
		defer srv.Close()
		s := Server{Layer: fault.Server, Base: srv.URL, Preset: named(t, name), Model: "m", Transport: engine.NewTransport(srv.URL, engine.Access{})}
		_, err := Wait(t.Context(), s, Limits{All: long}, func(string) {})
		enginetest.WantFault(t, err, "server.untrusted_certificate", "certificate signed by unknown authority")
		if f := fault.Of(err, fault.Client); !strings.Contains(f.Hint, "client.insecure_tls") || !strings.Contains(f.Hint, "SSL_CERT_FILE") {
			t.Errorf("hint %s", f.Hint)
		}
		s.Transport = engine.NewTransport(srv.URL, engine.Access{Insecure: true})
		if _, err := Wait(t.Context(), s, Limits{All: long}, func(string) {}); err != nil {
			t.Errorf("unchecked: %v", err)
		}
	}
}

// TestBadCertificates: another name and a time that is over are as final, where the token is what is waited for too.
func TestBadCertificates(t *testing.T) {
	for _, bad := range []error{x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"a.test"}}, Host: "b.test"}, x509.CertificateInvalidError{Reason: x509.Expired}} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			refuses := inMemory{h: enginetest.Handler("m"), fails: map[string]error{"/v1/chat/completions": &tls.CertificateVerificationError{Err: bad}}}
			_, err := Wait(t.Context(), Server{Layer: fault.Server, Base: "https://127.0.0.1:1", Preset: named(t, "vllm"), Model: "m", Transport: refuses}, Limits{All: long}, func(string) {})
			enginetest.WantFault(t, err, "server.untrusted_certificate", bad.Error())
			if took := time.Since(begun); took > time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// tardy is a context that notices its end a moment late, as those with a timer do.
type tardy struct {
	context.Context
	end time.Time
}

func (c tardy) Deadline() (time.Time, bool) { return c.end, true }

// brief answers at once but for a question that the end of the wait cuts short: it comes back before the context has ended.
type brief struct{ end time.Time }

func (b brief) RoundTrip(*http.Request) (*http.Response, error) {
	if left := time.Until(b.end); left <= slowInterval {
		time.Sleep(left)
		return nil, os.ErrDeadlineExceeded
	}
	return nil, syscall.ECONNREFUSED
}

// TestLastAnswer: what the server answered last is told, and not the question that the end of the wait cut short.
func TestLastAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := time.Now().Add(time.Minute)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute+time.Millisecond, ErrLate)
		defer cancel()
		s := Server{Layer: fault.Server, Base: "http://127.0.0.1:1", Preset: named(t, "openai"), Model: "m", Transport: brief{end}}
		_, err := Wait(tardy{ctx, end}, s, Limits{All: time.Minute}, func(string) {})
		enginetest.WantFault(t, err, "server.not_ready", "connection refused")
	})
}

// TestRefusedToken: who sent no token is told how to give one, and who sent one that it is wrong.
func TestRefusedToken(t *testing.T) {
	for token, hint := range map[string]string{"": "set server.token_env", "sk-old": "is the value of server.token_env"} {
		synctest.Test(t, func(t *testing.T) {
			s := Server{Layer: fault.Server, Base: "http://127.0.0.1:1", Preset: named(t, "vllm"), Model: "m", Access: engine.Access{Token: token}, Transport: inMemory{h: at("/health", 401, long)}}
			_, err := Wait(t.Context(), s, Limits{All: long}, func(string) {})
			if f := fault.Of(err, fault.Client); f == nil || f.Code != "server.unauthorized" || !strings.HasPrefix(f.Hint, hint) {
				t.Errorf("with token %q: %+v", token, f)
			}
		})
	}
}
