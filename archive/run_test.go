package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"assay/plan"
	"assay/result"
	"assay/runner"
	"assay/runner/metrics"
	"assay/runner/record"
)

const runID = "20261130T230125-aaaaaa"

const planText = `
apiVersion: assay/v1
name: packed
model: {name: m}
server: {engine: openai, runtime: endpoint, url: "http://127.0.0.1:8000"}
workload: {kind: synthetic, input_len: 16, sampling: {max_tokens: 4}}
protocol:
  sweep: {concurrency: [1, 4, 8], requests: 4}
`

func testKey() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)) }

// makeRun makes the folder of an ended run: two measured points, one that was skipped, a log. Its numbers come from its recordings.
func makeRun(t *testing.T) (dir string, r result.Result) {
	t.Helper()
	dir = t.TempDir()
	p, err := plan.Parse([]byte(planText))
	if err != nil {
		t.Fatal(err)
	}
	r = result.Result{Schema: result.Schema, Plan: p.Canonical(), Run: result.Run{ID: runID, Name: p.Name, State: result.Done,
		Verdict: result.NotValid, PlanSHA256: p.Hash(), CreatedUS: 1, StartedUS: 2, EndedUS: 3}}
	var sums []*metrics.Summary
	for _, c := range []int{1, 4} {
		point := measuredPoint(t, dir, c)
		sums = append(sums, point.Metrics)
		r.Points = append(r.Points, point)
	}
	metrics.Utilize(sums)
	eight := 8
	r.Points = append(r.Points, result.Point{ID: "c8", Phase: plan.PhaseSweep, Concurrency: &eight, State: result.PointSkipped})
	put(t, dir, "logs/server.log", "started\n")
	put(t, dir, "plan.yaml", planText)
	for _, path := range []string{"plan.yaml", "recordings/c4.rec", "recordings/c1.rec", "logs/server.log"} { // in no order
		r.Artifacts = append(r.Artifacts, artifact(t, dir, path))
	}
	save(t, dir, r)
	return dir, r
}

func measuredPoint(t *testing.T, dir string, c int) result.Point {
	t.Helper()
	id := fmt.Sprint("c", c)
	path := "recordings/" + id + ".rec"
	put(t, dir, path, "")
	w, err := record.Create(filepath.Join(dir, path), record.Header{Run: runID, Point: id, EpochUS: 1764543685000000, StampSource: "user"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		if err := w.Append(request(i, c)); err != nil {
			t.Fatal(err)
		}
	}
	file, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	span, issue, shape := [2]int64{10_000, 90_000}, [2]int64{5_000, 150_000}, metrics.Shape{Concurrency: c}
	made, err := runner.Pass{Window: window(span), Issue: window(issue), Shape: shape, MLPerf: true, Inside: true, Cell: true}.File(filepath.Join(dir, path))
	if err != nil {
		t.Fatal(err)
	}
	client := metrics.Client{StampSource: "user", TokenSource: "usage"}
	made.Tell(&client)
	epoch := made.Header.EpochUS
	return result.Point{ID: id, Phase: plan.PhaseSweep, Concurrency: &c, State: result.PointNotValid, Metrics: &made.Metrics, MLPerf: made.MLPerf, Inside: made.Inside, Cell: made.Cell,
		Client: &client, Engine: &result.EngineCount{GenerationTokens: 48, ClientTokens: 48},
		Window:    &result.Window{StartedUS: epoch + span[0], EndedUS: epoch + span[1], DurationS: float64(span[1]-span[0]) / 1e6},
		Recording: &result.Recording{Path: path, SHA256: file.SHA256, Requests: file.Requests, Events: file.Events, EpochUS: epoch, IssueUS: issue, WindowUS: span}}
}

// request i of a point: some before, inside and after the window, one of them failed.
func request(i, c int) record.Request {
	sent := int64(10_000*i + 7*c)
	r := record.Request{Index: i, ID: fmt.Sprint("r", i), IntendedUS: sent - 3, SentUS: sent, ConnectUS: record.Never, FirstByteUS: sent + 900,
		Outcome: record.OK, Status: 200, FinishReason: "stop", RetryAfterUS: record.Never, InputTokens: 16, OutputTokens: 4,
		CachedTokens: record.Never, TokenSource: "usage"}
	for k := range int64(4) {
		r.Events = append(r.Events, record.Event{AtUS: sent + 1000 + k*k*333*int64(c), Tokens: 1})
	}
	r.DoneUS = r.Events[3].AtUS + 10
	switch i {
	case 0:
		r.Warmup = true
	case 3:
		r.SharedReads, r.Retries = 3, 1
		for k := range r.Events {
			r.Events[k].AtUS = r.DoneUS
		}
	case 5:
		r.Outcome, r.Error = record.Reset, "connection reset"
	}
	return r
}

func put(t *testing.T, dir, path, text string) {
	t.Helper()
	name := filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func artifact(t *testing.T, dir, path string) result.Artifact {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, path))
	if err != nil {
		t.Fatal(err)
	}
	return result.Artifact{Path: path, SHA256: fmt.Sprintf("%x", sha256.Sum256(b)), Bytes: int64(len(b))}
}

func save(t *testing.T, dir string, r result.Result) {
	t.Helper()
	b, err := result.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, result.FileName, string(b))
}

func pack(t *testing.T, dir string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Pack(t.Context(), dir, testKey(), &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// check verifies an archive's bytes through a file, as a user does.
func check(t *testing.T, archive []byte) Report {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.tar.zst")
	if err := os.WriteFile(path, archive, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Verify(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// entry is one file of an unpacked archive.
type entry struct {
	header tar.Header
	body   []byte
}

func unpack(t *testing.T, archive []byte) []entry {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var all []entry
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, entry{*h, body})
	}
}

// repack writes entries as an archive, signed or not as they are; tail follows the tar inside the compression.
func repack(t *testing.T, all []entry, tail string) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, e := range all {
		e.header.Size = int64(len(e.body))
		if err := w.WriteHeader(&e.header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(e.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(z, tail); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// at finds an entry by its path below the run's folder.
func at(t *testing.T, all []entry, path string) *entry {
	t.Helper()
	for i := range all {
		if all[i].header.Name == runID+"/"+path {
			return &all[i]
		}
	}
	t.Fatalf("the archive has no %s", path)
	return nil
}

// resign makes the manifest that fits the entries and signs it: what a host can do that lies about its own run.
func resign(t *testing.T, all []entry) {
	t.Helper()
	m := Manifest{Schema: Schema, Run: runID}
	for _, e := range all[2:] {
		path := strings.TrimPrefix(e.header.Name, runID+"/")
		m.Files = append(m.Files, result.Artifact{Path: path, SHA256: fmt.Sprintf("%x", sha256.Sum256(e.body)), Bytes: int64(len(e.body))})
	}
	at(t, all, manifestName).body = mustJSON(t, m)
	at(t, all, signatureName).body = mustJSON(t, sign(testKey(), at(t, all, manifestName).body))
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// failed gives the findings that failed, as "what: text".
func failed(r Report) string {
	var lines []string
	for _, l := range r.Lines {
		if l.State == Fail {
			lines = append(lines, l.What+": "+l.Text)
		}
	}
	return strings.Join(lines, "\n")
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
