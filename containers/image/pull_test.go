package image

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/client"
	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"assay/containers/enginetest"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// connected is a client of an engine at a socket.
func connected(t *testing.T, socket string) *client.Client {
	t.Helper()
	c, err := client.NewClientWithOpts(client.WithHost("unix://"+socket), client.WithAPIVersionNegotiation())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// quick bounds a pull for tests: one try more, at once.
func quick() limits { return limits{stall: time.Minute, pause: 0, tries: 2} }

// fakeEngine answers as an engine of this version does, but for what a test adds.
func fakeEngine() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/_ping", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Api-Version", "1.41") })
	mux.HandleFunc("/v1.41/version", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"Os":"linux","Arch":"amd64"}`) })
	mux.HandleFunc("/v1.41/info", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"Driver":"overlay2"}`) })
	mux.HandleFunc("GET /v1.41/images/json", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `[]`) })
	return mux
}

// pullingEngine answers each pull with the next stream, the last one again, and then has an image with these digests.
func pullingEngine(streams []string, digests ...string) http.Handler {
	pulls := 0
	mux := fakeEngine()
	mux.HandleFunc("POST /v1.41/images/create", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, streams[min(pulls, len(streams)-1)])
		pulls++
	})
	mux.HandleFunc("GET /v1.41/images/", func(w http.ResponseWriter, r *http.Request) {
		if pulls < len(streams) || len(digests) == 0 || strings.HasPrefix(r.URL.Path, "/v1.41/images/sha256:") {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"message":"No such image"}`)
			return
		}
		fmt.Fprintf(w, `{"Id":"sha256:1","Os":"linux","Architecture":"amd64","RepoDigests":["%s"]}`, strings.Join(digests, `","`))
	})
	return mux
}

// refusingEngine answers a pull before its stream, as engines do for a manifest.
func refusingEngine(status int, text string) http.Handler {
	mux := fakeEngine()
	mux.HandleFunc("POST /v1.41/images/create", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"message":%q}`, text)
	})
	mux.HandleFunc("GET /v1.41/images/", enginetest.Status(http.StatusNotFound, `{"message":"No such image"}`))
	return mux
}

func failing(text string) []string {
	return []string{fmt.Sprintf(`{"errorDetail":{"message":%q}}`, text)}
}

func TestPullFaults(t *testing.T) {
	image := "127.0.0.1:1/lab/engine@" + digest
	other := "127.0.0.1:1/lab/engine@sha256:" + strings.Repeat("ff", 32)
	for _, c := range []struct {
		name    string
		h       http.Handler
		code    string
		message string
	}{
		{"good", pullingEngine([]string{`{"status":"ok"}`}, other, image), "", ""},
		{"good at the second try", pullingEngine(append(failing("received unexpected HTTP status: 500 Internal Server Error"), `{"status":"ok"}`), image), "", ""},
		{"disk full in mid-stream", pullingEngine(failing("write /x: no space left on device")), "image.disk_full", "no space left"},
		{"disk full at once", refusingEngine(500, "mkdir /var/lib/docker/tmp: no space left on device"), "image.disk_full", "no space left"},
		{"engine's disk refuses", pullingEngine(failing("open /var/lib/docker/x: permission denied")), "image.pull_failed", "permission"},
		{"layer refused", pullingEngine(failing("unauthorized: authentication required")), "image.unauthorized", "authentication"},
		{"no credentials", refusingEngine(500, "Head https://r.test/v2/x: no basic auth credentials"), "image.unauthorized", "basic auth"},
		{"private", refusingEngine(404, "pull access denied for x, repository does not exist or may require 'docker login'"), "image.unauthorized", "denied"},
		{"limit", refusingEngine(500, "toomanyrequests: You have reached your pull rate limit."), "image.rate_limited", "toomanyrequests"},
		{"no name", refusingEngine(500, "Get https://nowhere.test/v2/: dial tcp: lookup nowhere.test: no such host"), "image.dns", "nowhere"},
		{"own authority", refusingEngine(500, "Get https://r.test/v2/: x509: certificate signed by unknown authority"), "image.tls", "x509"},
		{"plain HTTP", refusingEngine(500, "Get https://10.0.0.1/v2/: http: server gave HTTP response to HTTPS client"), "image.insecure_registry", "HTTPS"},
		{"proxy", refusingEngine(500, "Get https://r.test/v2/: proxyconnect tcp: dial tcp 10.0.0.1:3128: connection refused"), "image.proxy", "proxyconnect"},
		{"slow", refusingEngine(500, "Get https://r.test/v2/: net/http: TLS handshake timeout"), "image.registry_unreachable", "timeout"},
		{"no registry", refusingEngine(500, "Get http://127.0.0.1:1/v2/: dial tcp 127.0.0.1:1: connect: connection refused"), "image.registry_unreachable", "refused"},
		{"other bytes", pullingEngine(failing("filesystem layer verification failed for digest sha256:ab")), "image.wrong_digest", "verification"},
		{"no platform", refusingEngine(404, "no matching manifest for linux/amd64 in the manifest list entries"), "image.platform_missing", "linux/amd64"},
		{"manifest gone", pullingEngine([]string{`{"error":"manifest unknown"}`}), "image.not_found", "manifest unknown"},
		{"layer broken", pullingEngine(failing("received unexpected HTTP status: 500 Internal Server Error")), "image.registry_failed", "500"},
		{"layer named", pullingEngine([]string{`{"status":"Retrying in 5 seconds","id":"0123456789ab"}{"errorDetail":{"message":"unexpected EOF"}}`}), "image.registry_unreachable", "layer 0123456789ab"},
		{"stream cut", pullingEngine([]string{`{"status":"Down`}), "image.registry_unreachable", ""},
		{"nothing stored", pullingEngine([]string{`{"status":"ok"}`}), "image.not_stored", ""},
		{"something else stored", pullingEngine([]string{`{"status":"ok"}`}, other), "image.digest_mismatch", "ffff"},
		{"same digest of another repository", pullingEngine([]string{`{"status":"ok"}`}, "registry.test/other/engine@"+digest), "image.digest_mismatch", "other"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := prepare(t.Context(), connected(t, enginetest.Socket(t, c.h)), Wanted{Role: "server", Image: image}, quick(), func(Progress) {})
			if c.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			enginetest.WantFault(t, err, c.code, c.message)
		})
	}
}

// An engine that says nothing for too long is left, and the user's own end of a pull is no fault.
func TestPullThatStops(t *testing.T) {
	var told []string
	silent := func(ctx context.Context, l limits, now func()) error {
		mux := fakeEngine()
		mux.HandleFunc("GET /v1.41/images/", enginetest.Status(http.StatusNotFound, `{"message":"No such image"}`))
		mux.HandleFunc("POST /v1.41/images/create", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, `{"status":"Downloading","id":"0123456789ab","progressDetail":{"current":5000000,"total":9000000}}`)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
		_, err := prepare(ctx, connected(t, enginetest.Socket(t, mux)), Wanted{Image: "127.0.0.1:1/lab/engine@" + digest}, l, func(p Progress) {
			told = append(told, p.Status)
			if p.Done > 0 {
				now()
			}
		})
		return err
	}
	stall := 2 * time.Second // in which a busy machine gets as far as its silence
	enginetest.WantFault(t, silent(t.Context(), limits{stall: stall, tries: 3}, func() {}), "image.stalled", "5 of 9 MB")
	if len(told) < 3 || !strings.HasPrefix(told[len(told)-1], "the container engine has said nothing for ") {
		t.Errorf("a silent engine: told %q", told)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := silent(ctx, quick(), cancel); err == nil || strings.Contains(err.Error(), "(image.") {
		t.Errorf("ended by the user: %v", err)
	}
}

func TestProgressAddsUp(t *testing.T) {
	hash := func(c string) v1.Hash { return v1.Hash{Algorithm: "sha256", Hex: strings.Repeat(c, 64)} }
	m := manifest{blobs: []v1.Descriptor{{Digest: hash("a"), Size: 50}, {Digest: hash("b"), Size: 100}, {Digest: hash("c"), Size: 300}}}
	stream := `{"status":"Pulling from lab/engine"}{"status":"Already exists","id":"aaaaaaaaaaaa"}{"status":"Pulling fs layer","id":"bbbbbbbbbbbb"}{"status":"Pulling fs layer","id":"cccccccccccc"}
{"status":"Downloading","id":"bbbbbbbbbbbb","progressDetail":{"current":40,"total":100}}{"status":"Retrying in 5 seconds","id":"cccccccccccc"}
{"status":"Downloading","id":"cccccccccccc","progressDetail":{"current":300,"total":300}}{"status":"Download complete","id":"cccccccccccc"}{"status":"Download complete","id":"bbbbbbbbbbbb"}
{"status":"Extracting","id":"bbbbbbbbbbbb","progressDetail":{"current":1,"total":100}}{"status":"Pull complete","id":"bbbbbbbbbbbb"}{"status":"Pull complete","id":"cccccccccccc"}{"status":"Status: Downloaded newer image"}`
	for name, c := range map[string]struct {
		m     manifest
		total int64
	}{"by the manifest": {m, 400}, "as the engine tells": {manifest{}, 400}} {
		var seen []Progress
		tr := track(c.m, 1, func(p Progress) { seen = append(seen, p) })
		if failure, err := drain(strings.NewReader(stream), tr.message); failure != "" || err != nil {
			t.Fatal(failure, err)
		}
		last := seen[len(seen)-1]
		if last.Done != c.total || last.Total != c.total {
			t.Errorf("%s: at the end %+v", name, last)
		}
		var words []string
		for _, p := range seen {
			words = append(words, fmt.Sprintf("%s %d/%d", p.Status, p.Done, p.Total))
		}
		if name == "by the manifest" {
			want := []string{"downloading, 1 of 3 layers 0/400", "downloading, 1 of 3 layers 40/400", "layer cccccccccccc is tried again 40/400", "downloading, 1 of 3 layers 340/400",
				"unpacking, 1 of 3 layers 400/400", "unpacking, 2 of 3 layers 400/400", "unpacking, 3 of 3 layers 400/400"}
			if d := cmp.Diff(want, words); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		}
	}
}

func TestDrain(t *testing.T) {
	for _, c := range []struct{ name, stream, failure string }{
		{"good", `{"status":"Pulling","id":"a"}{"status":"Downloading","id":"a","progressDetail":{"current":5,"total":10}}{"status":"Status: Downloaded newer image"}`, ""},
		{"new error form", `{"status":"x"}{"errorDetail":{"message":"no space left on device"}}`, "no space left on device"},
		{"old error form", `{"error":"manifest unknown"}`, "manifest unknown"},
	} {
		failure, err := drain(strings.NewReader(c.stream), func(message) {})
		if err != nil || failure != c.failure {
			t.Errorf("%s: %q, %v", c.name, failure, err)
		}
	}
	if _, err := drain(strings.NewReader(`{"status":`), func(message) {}); err == nil {
		t.Error("a broken stream is no error")
	}
}

func FuzzDrain(f *testing.F) {
	f.Add([]byte(`{"status":"x"}{"errorDetail":{"message":"m"}}`))
	f.Add([]byte(`{"status":"Downloading","id":"a","progressDetail":{"current":5,"total":10}}{"status":"Pull complete","id":"a"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		tr := track(manifest{}, 0, func(p Progress) {
			if p.Total < 0 {
				t.Errorf("%+v", p)
			}
		})
		_, _ = drain(bytes.NewReader(b), tr.message)
	})
}
