package image

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"assay/containers/enginetest"
	"assay/containers/imagetest"
)

// isBlob tells the engine's request for a layer or a configuration.
func isBlob(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/") && byEngine(r)
}

// status answers the engine with a registry's error.
func status(code int, which func(*http.Request) bool) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, r *http.Request) bool {
		if !which(r) {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		body := map[int]string{401: `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`, 403: `{"errors":[{"code":"DENIED","message":"requested access to the resource is denied"}]}`,
			429: `{"errors":[{"code":"TOOMANYREQUESTS","message":"You have reached your pull rate limit."}]}`}[code]
		_, _ = w.Write([]byte(body))
		return true
	}
}

// A registry that fails is told by a real engine in its words; each means something else to do. Our own questions are answered, or not.
func TestRegistryFaultsAtARealEngine(t *testing.T) {
	socket := imagetest.Engine(t, 0, "--max-download-attempts=1")
	img := made(t, runtime.GOARCH, 1, 2_000_000)
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	layer := digestOf(t, layers[0])
	isLayer := func(r *http.Request) bool { return isBlob(r) && strings.HasSuffix(r.URL.Path, layer) }
	all := func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/v2/lab/") }
	for _, c := range []struct {
		name string
		fail func(http.ResponseWriter, *http.Request) bool
		code string
	}{
		{"manifest 401", status(401, all), "image.unauthorized"},
		{"manifest 403", status(403, all), "image.unauthorized"},
		{"manifest 404", status(404, all), "image.not_found"},
		{"manifest 429", status(429, all), "image.rate_limited"},
		{"manifest 500", status(500, all), "image.registry_failed"},
		{"layer 401", status(401, isLayer), "image.unauthorized"},
		{"layer 404", status(404, isLayer), "image.not_found"},
		{"layer 429", status(429, isLayer), "image.rate_limited"},
		{"layer 503", status(503, isLayer), "image.registry_failed"},
		{"layer dies", func(w http.ResponseWriter, r *http.Request) bool {
			if isLayer(r) {
				dieAfter(w, 100_000)
			}
			return isLayer(r)
		}, "image.registry_unreachable"},
		{"layer of other bytes", func(w http.ResponseWriter, r *http.Request) bool {
			if isLayer(r) {
				_, _ = w.Write([]byte(strings.Repeat("x", 2_000_000)))
			}
			return isLayer(r)
		}, "image.wrong_digest"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRegistry(t)
			ref := r.push(t, "lab/engine", img)
			r.failing(c.fail)
			_, _, err := ready(t, socket, Wanted{Image: ref})
			enginetest.WantFault(t, err, c.code, ref)
			if left, _ := docker(socket, "images", "--quiet", "--no-trunc").Output(); len(left) > 0 {
				t.Errorf("left behind: %s", left)
			}
		})
	}
}

// dieAfter sends some bytes of many, and then cuts the connection.
func dieAfter(w http.ResponseWriter, n int) {
	w.Header().Set("Content-Length", strconv.Itoa(10*n))
	_, _ = w.Write(make([]byte, n))
	cut(w)
}

// cut ends a connection in the middle of an answer.
func cut(w http.ResponseWriter) {
	w.(http.Flusher).Flush()
	if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
		c.Close()
	}
}

// A registry that dies in the middle of a layer and comes back costs a while and no more: the engine goes on where it was.
func TestLayerThatDiesIsFetchedAgain(t *testing.T) {
	socket := imagetest.Engine(t, 0)
	r := newRegistry(t)
	img := made(t, runtime.GOARCH, 1, 2_000_000)
	ref := r.push(t, "lab/engine", img)
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	layer, body := digestOf(t, layers[0]), bytesOf(t, layers[0])
	var died atomic.Bool
	var resumed atomic.Bool
	r.failing(func(w http.ResponseWriter, req *http.Request) bool {
		if !isBlob(req) || !strings.HasSuffix(req.URL.Path, layer) {
			return false
		}
		if died.Swap(true) {
			resumed.Store(strings.HasPrefix(req.Header.Get("Range"), "bytes="))
			http.ServeContent(w, req, "", time.Time{}, bytes.NewReader(body))
			return true
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body[:len(body)/2])
		cut(w)
		return true
	})
	i, told := mustBeReady(t, socket, Wanted{Image: ref})
	if last := told[len(told)-1]; i.Pinned != ref || last.Done != last.Total {
		t.Errorf("%+v, %+v", i, last)
	}
	if !slices.ContainsFunc(told, func(p Progress) bool { return p.Status == "layer "+shortDigest(layer)+" is tried again" }) {
		t.Errorf("nothing is told of the trouble: %+v", told)
	}
	if !resumed.Load() {
		t.Error("the layer was fetched from its beginning")
	}
}

func bytesOf(t *testing.T, l v1.Layer) []byte {
	t.Helper()
	r, err := l.Compressed()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What cannot fit is refused before anything is fetched; where the registry tells no sizes, the engine's own end of the disk is told.
func TestField_InferenceXKLAUDDEBUG_DiskFull(t *testing.T) {
	socket := imagetest.Engine(t, 48)
	r := newRegistry(t)
	ref := r.push(t, "lab/engine", made(t, runtime.GOARCH, 1, 40_000_000))
	_, _, err := ready(t, socket, Wanted{Image: ref})
	enginetest.WantFault(t, err, "image.disk_full", "needs about 100 MB", "40 MB are to come")
	if r.blobs.Load() != 0 {
		t.Error("something was fetched")
	}
	r.failing(func(w http.ResponseWriter, req *http.Request) bool {
		return !byEngine(req) && status(500, func(*http.Request) bool { return true })(w, req)
	})
	_, _, err = ready(t, socket, Wanted{Image: ref})
	enginetest.WantFault(t, err, "image.disk_full", "no space left on device")
	if left, _ := docker(socket, "images", "--quiet").Output(); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}

// A layer that another image has needs no room and is not counted.
func TestSharedLayersNeedNoRoom(t *testing.T) {
	socket := imagetest.Engine(t, 100)
	r := newRegistry(t)
	base := made(t, runtime.GOARCH, 1, 30_000_000)
	mustBeReady(t, socket, Wanted{Image: r.push(t, "lab/base", base)})
	_, told := mustBeReady(t, socket, Wanted{Image: r.push(t, "lab/derived", onTop(t, base, 1, 1_000_000))})
	if last := told[len(told)-1]; last.Total > 2_000_000 || last.Status != "unpacking, 2 of 2 layers" {
		t.Errorf("progress ended with %+v", last)
	}
}

// A certificate that nobody signed, at our own question and at the engine's.
func TestRegistryOfAnUnknownAuthority(t *testing.T) {
	s := httptest.NewUnstartedServer(registry.New())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	host := strings.TrimPrefix(s.URL, "https://")
	_, err := ResolveDigest(t.Context(), strings.Replace(host, "127.0.0.1", "127.0.0.1.nip.invalid", 1)+"/lab/engine:latest")
	enginetest.WantFault(t, err, "image.dns")
	_, err = ResolveDigest(t.Context(), host+"/lab/engine:latest")
	enginetest.WantFault(t, err, "image.tls")
}
