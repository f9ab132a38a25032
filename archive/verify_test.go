package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"assay/result"
)

func TestVerifyAnHonestRun(t *testing.T) {
	dir, _ := makeRun(t)
	r := check(t, pack(t, dir))
	if !r.OK || r.Run != runID {
		t.Fatalf("report %+v", r)
	}
	if want := Fingerprint(testKey().Public().(ed25519.PublicKey)); r.Fingerprint != want || !strings.HasPrefix(want, "SHA256:") {
		t.Errorf("fingerprint %q, want %q", r.Fingerprint, want)
	}
	want := []Line{{"signature", OK, "Ed25519, key " + r.Fingerprint}, {"files", OK, "5 files"}, {"plan", OK, "SHA-256 "},
		{"points", OK, "all 3"}, {"verdict", OK, "not_valid"}, {"point c1", OK, "numbers recomputed from recordings/c1.rec, all equal"},
		{"point c4", OK, "numbers recomputed"}, {"point c8", None, "has no numbers: skipped"}}
	if len(r.Lines) != len(want) {
		t.Fatalf("lines %+v", r.Lines)
	}
	for i, l := range r.Lines {
		if l.What != want[i].What || l.State != want[i].State || !strings.Contains(l.Text, want[i].Text) {
			t.Errorf("line %+v, want %+v", l, want[i])
		}
	}
}

// An archive that was changed on its way, without the key.
func TestTamperedWithoutTheKey(t *testing.T) {
	tests := []struct {
		name   string
		change func(t *testing.T, all []entry) []entry
		want   []string // parts of the findings that fail
	}{
		{"a number of the result", replacing(result.FileName, `"requests_issued": `, `"requests_issued": 1`), []string{"file result.json: "}},
		{"the plan in the result", replacing(result.FileName, `"requests": 4`, `"requests": 5`), []string{"file result.json: has the SHA-256", "plan: has the SHA-256"}},
		{"a byte of a recording", func(t *testing.T, all []entry) []entry {
			e := at(t, all, "recordings/c1.rec")
			e.body[len(e.body)-20] ^= 1 // of the last block
			return all
		}, []string{"file recordings/c1.rec: has the SHA-256", "point c1: its recording cannot be read"}},
		{"a log", replacing("logs/server.log", "started", "stopped"), []string{"file logs/server.log: has the SHA-256"}},
		{"a longer log", replacing("logs/server.log", "started", "restarted"), []string{"file logs/server.log: has 10 bytes"}},
		{"the manifest", replacing(manifestName, `"bytes": 8`, `"bytes": 9`), []string{"signature: the signature is not over this manifest"}},
		{"the signature", func(t *testing.T, all []entry) []entry {
			return signedBy(t, all, func(s *Signature) { s.Value[0] ^= 1 })
		}, []string{"signature: the signature is not over this manifest"}},
		{"the public key", func(t *testing.T, all []entry) []entry {
			return signedBy(t, all, func(s *Signature) { s.PublicKey[0] ^= 1 })
		}, []string{"signature: the signature is not over this manifest"}},
		{"a short public key", func(t *testing.T, all []entry) []entry {
			return signedBy(t, all, func(s *Signature) { s.PublicKey = s.PublicKey[1:] })
		}, []string{"signature: the public key has a wrong length"}},
		{"another algorithm", replacing(signatureName, algorithm, "none"), []string{`signature: algorithm "none" is not known`}},
		{"an extra file", func(_ *testing.T, all []entry) []entry {
			return append(all, entry{tar.Header{Typeflag: tar.TypeReg, Name: runID + "/extra", Mode: 0o644}, []byte("x")})
		}, []string{"file " + runID + "/extra: is not in the manifest"}},
		{"many extra files", func(_ *testing.T, all []entry) []entry {
			for range 1000 {
				all = append(all, entry{tar.Header{Typeflag: tar.TypeReg, Name: runID + "/extra", Mode: 0o644}, nil})
			}
			return all
		}, []string{"more of its files are not in the manifest"}},
		{"a file twice", func(_ *testing.T, all []entry) []entry { return append(all, all[len(all)-1]) }, []string{"c4.rec: is not in the manifest, or comes twice"}},
		{"a file outside", func(_ *testing.T, all []entry) []entry {
			return append(all, entry{tar.Header{Typeflag: tar.TypeReg, Name: "../../etc/passwd", Mode: 0o644}, []byte("x")})
		}, []string{"file ../../etc/passwd: is not in the manifest"}},
		{"a link instead of a file", func(t *testing.T, all []entry) []entry {
			e := at(t, all, "plan.yaml")
			e.header.Typeflag, e.header.Linkname, e.body = tar.TypeSymlink, "/etc/passwd", nil
			return all
		}, []string{"plan.yaml: is not in the manifest", "files: missing: plan.yaml"}},
		{"a missing file", func(_ *testing.T, all []entry) []entry { return all[:len(all)-1] },
			[]string{"files: missing: recordings/c4.rec", "point c4: could not be recomputed"}},
		{"no result", func(_ *testing.T, all []entry) []entry { return append(all[:2:2], all[3:]...) },
			[]string{"files: missing: result.json", "result: was not read"}},
		{"no signature", func(_ *testing.T, all []entry) []entry { return append(all[:1:1], all[2:]...) },
			[]string{"archive: is damaged", "signature.json should come next"}},
		{"another folder's signature", func(_ *testing.T, all []entry) []entry { all[1].header.Name = "x/" + signatureName; return all },
			[]string{"signature.json should come next"}},
		{"another schema", replacing(manifestName, Schema, "assay.archive/v9"), []string{`schema "assay.archive/v9" is not assay.archive/v1`}},
		{"nothing", func(*testing.T, []entry) []entry { return nil }, []string{"archive: is damaged", "result: was not read"}},
	}
	dir, _ := makeRun(t)
	packed := pack(t, dir)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantFindings(t, check(t, repack(t, tt.change(t, unpack(t, packed)), "")), tt.want)
		})
	}
}

func wantFindings(t *testing.T, r Report, want []string) {
	t.Helper()
	if r.OK {
		t.Error("the archive passed")
	}
	for _, part := range want {
		if !strings.Contains(failed(r), part) {
			t.Errorf("no finding %q in:\n%s", part, failed(r))
		}
	}
}

func replacing(path, from, to string) func(*testing.T, []entry) []entry {
	return func(t *testing.T, all []entry) []entry {
		e := at(t, all, path)
		if !bytes.Contains(e.body, []byte(from)) {
			t.Fatalf("%s holds no %s", path, from)
		}
		e.body = bytes.Replace(e.body, []byte(from), []byte(to), 1)
		return all
	}
}

func signedBy(t *testing.T, all []entry, change func(*Signature)) []entry {
	e := at(t, all, signatureName)
	var s Signature
	if err := json.Unmarshal(e.body, &s); err != nil {
		t.Fatal(err)
	}
	change(&s)
	e.body = mustJSON(t, s)
	return all
}

// A host that lies about its own run: hashes and signature fit, the numbers do not.
func TestLyingHost(t *testing.T) {
	tests := []struct {
		name string
		lie  func(r *result.Result)
		want []string
	}{
		{"throughput", func(r *result.Result) { *r.Points[0].Metrics.SystemTPS *= 1.001 }, []string{"point c1: system_tps is "}},
		{"the last bit", func(r *result.Result) { r.Points[1].Metrics.TTFTMS.P90 += 1e-12 }, []string{"point c4: ttft_ms.p90 is "}},
		{"an outcome", func(r *result.Result) { delete(r.Points[0].Metrics.Outcomes, "reset") }, []string{"point c1: outcomes.reset is not told, the recording gives 1"}},
		{"a number left out", func(r *result.Result) { r.Points[0].Metrics.TPOTMS = nil }, []string{"tpot_ms.max is not told"}},
		{"the figures of the requests inside", func(r *result.Result) { r.Points[0].Inside.TTFTMS.P90 *= 2 }, []string{"point c1: inside.ttft_ms.p90 is "}},
		{"the figures of a cell's streams", func(r *result.Result) { *r.Points[0].Cell.TPSPerRequest *= 2 }, []string{"point c1: cell.tps_per_request is "}},
		{"the MLPerf figures", func(r *result.Result) { *r.Points[0].MLPerf.QPS *= 2 }, []string{"point c1: mlperf.qps is "}},
		{"utilization", func(r *result.Result) { *r.Points[0].Metrics.Utilization = 99 }, []string{"point c1: utilization is 99"}},
		{"the client's counts", func(r *result.Result) { c := r.Points[0].Client; c.Events, c.SharedReads, c.Retries = 48, 0, 0 },
			[]string{"client.events is 48, the recording gives 32", "client.shared_reads is 0, the recording gives 3", "client.retries is 0, the recording gives 1"}},
		{"how fast the client refilled its slots", func(r *result.Result) { c := r.Points[0].Client; c.RefillUS.P99, c.IdleShare = 2, new(float64) },
			[]string{"client.refill_us is {3 2 3}, the recording gives {3 3 3}", "client.idle_share is 0, the recording gives 0.0003"}},
		{"the client's sources", func(r *result.Result) { c := r.Points[0].Client; c.StampSource, c.TokenSource = "kernel", "ids" },
			[]string{"client.stamp_source is kernel, the recording gives user", "client.token_source is ids, the recording gives usage"}},
		{"the count held against the engine's", func(r *result.Result) { r.Points[0].Engine.ClientTokens++ }, []string{"engine.client_tokens is 49, the recording gives 48"}},
		{"the warm-up", func(r *result.Result) { r.Points[0].Warmup = &result.Warmup{Requests: 99, DurationS: 60} },
			[]string{"warmup.requests is 99, the recording gives ", "warmup.duration_s is 60, the recording gives "}},
		{"a better window", func(r *result.Result) { r.Points[0].Recording.WindowUS = [2]int64{20_000, 80_000} }, []string{"point c1: its window is not the one of its recording"}},
		{"all numbers of a point", func(r *result.Result) { r.Points[0].Metrics, r.Points[0].MLPerf = nil, nil }, []string{"point c1: active_mean is not told", "; and "}},
		{"a recording left out", func(r *result.Result) { r.Points[0].Recording = nil }, []string{"point c1: has no recording"}},
		{"the recording of another point", func(r *result.Result) { r.Points[0].Recording.Path = "recordings/c4.rec" },
			[]string{"its recording says run " + runID + ", point c4", "point c4: its recording recordings/c4.rec is another point's too"}},
		{"of another run", func(r *result.Result) { r.Points[0].Recording.EpochUS++ }, []string{"point c1: its recording says"}},
		{"its hash", func(r *result.Result) { r.Points[0].Recording.SHA256 = strings.Repeat("0", 64) }, []string{"point c1: its recording recordings/c1.rec is not listed with its SHA-256"}},
		{"counts", func(r *result.Result) { r.Points[0].Recording.Requests++ }, []string{"holds 12 requests and 48 events, the result says 13 and 48"}},
		{"a point left out", func(r *result.Result) { r.Points = r.Points[1:] }, []string{"points: missing in the result of a finished run: c1"}},
		{"a point twice", func(r *result.Result) { r.Points[2] = r.Points[0] }, []string{"points: c1 stands in the result twice"}},
		{"a point the plan has not", func(r *result.Result) { r.Points[0].ID = "c2" }, []string{"point c2: ", "the plan has no such point"}},
		{"the plan's hash", func(r *result.Result) { r.Run.PlanSHA256 = strings.Repeat("0", 64) }, []string{"plan: has the SHA-256"}},
		{"another plan", func(r *result.Result) { r.Plan = json.RawMessage(`{}`) }, []string{"plan: has the SHA-256", "point c1: the plan has no such point"}},
		{"the run's verdict", func(r *result.Result) { r.Run.Verdict = result.Valid }, []string{`verdict: is "valid"; the states of the run and its points give not_valid`}},
		{"no verdict", func(r *result.Result) { r.Run.Verdict = "" }, []string{`verdict: is ""`}},
		{"a worse verdict", func(r *result.Result) {
			r.Points[0].State, r.Points[1].State, r.Points[2].State = result.PointValid, result.PointQueued, result.PointOver
		}, []string{`verdict: is "not_valid"; the states of the run and its points give valid`}},
		{"the state of a point with failures", func(r *result.Result) { r.Points[0].State = result.PointValid },
			[]string{"point c1: its state is valid, the recording gives not_valid: errors, 1 of 8: reset 1"}},
		{"the state of a late client's point", func(r *result.Result) { r.Points[1].State, r.Points[1].Client.LagUS.P99 = result.PointQueued, 60_000 },
			[]string{"point c4: its state is requests_queued, the recording gives not_valid: ", "client_bound, lag p99 60.0 ms"}},
		{"a valid point without numbers", func(r *result.Result) { r.Points[2].State = result.PointValid }, []string{"point c8: has no recording"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, r := makeRun(t)
			tt.lie(&r)
			save(t, dir, r)
			report := check(t, pack(t, dir))
			if report.Fingerprint == "" || strings.Contains(failed(report), "file ") {
				t.Errorf("the signature or a hash failed: %s", failed(report))
			}
			wantFindings(t, report, tt.want)
		})
	}
}

func TestUnfinishedRunMayLackPoints(t *testing.T) {
	dir, r := makeRun(t)
	r.Run.State, r.Points = result.Interrupted, r.Points[:2]
	save(t, dir, r)
	if report := check(t, pack(t, dir)); !report.OK || !strings.Contains(fmt.Sprint(report.Lines), "the run is interrupted, not measured: c8") {
		t.Errorf("report %+v", report)
	}
}

func TestSignedManifestMustFitTheResult(t *testing.T) {
	dir, _ := makeRun(t)
	all := unpack(t, pack(t, dir))
	all = append(all[:3:3], all[4:]...) // without the log, and signed again
	resign(t, all)
	wantFindings(t, check(t, repack(t, all, "")), []string{"manifest: lists other files than the result document"})
}

func TestDamagedArchives(t *testing.T) {
	dir, _ := makeRun(t)
	whole := pack(t, dir)
	honest := unpack(t, whole)
	for n := 0; n < len(whole); n += 1 + len(whole)/40 {
		if r := check(t, whole[:n]); r.OK || !strings.Contains(failed(r), "archive: is damaged, cut off") && n > 0 {
			t.Errorf("cut off at %d of %d: %s", n, len(whole), failed(r))
		}
	}
	for n := 0; n < len(whole); n += 1 + len(whole)/200 {
		flipped := bytes.Clone(whole)
		flipped[n] ^= 0x10
		if r := check(t, flipped); r.OK && !reflect.DeepEqual(unpack(t, flipped), honest) { // a bit of the compression may mean nothing
			t.Errorf("byte %d of %d was changed and nothing was found", n, len(whole))
		}
	}
	wantFindings(t, check(t, []byte("no archive at all")), []string{"archive: is damaged, cut off, or not made by assay"})
	wantFindings(t, check(t, append(bytes.Clone(whole), "tail"...)), []string{"archive: is damaged"})
	wantFindings(t, check(t, repack(t, unpack(t, whole), "tail")), []string{"4 bytes follow its end"})
}

func TestLimits(t *testing.T) {
	dir, _ := makeRun(t)
	whole := pack(t, dir)
	tests := []struct {
		name string
		cut  func(*limits)
		want string
	}{
		{"total", func(l *limits) { l.total = 4096 }, "it unpacks to more than this program reads"},
		{"document", func(l *limits) { l.document = 100 }, "more than this program reads"},
		{"recording", func(l *limits) { l.recording = 100 }, "point c1: its recording has"},
	}
	for _, tt := range tests {
		max := standardLimits()
		tt.cut(&max)
		wantFindings(t, verify(t.Context(), bytes.NewReader(whole), max), []string{tt.want})
	}
	bomb := repack(t, []entry{{tar.Header{Typeflag: tar.TypeReg, Name: runID + "/" + manifestName}, make([]byte, 16<<20)}}, "")
	if len(bomb) > 1<<20 {
		t.Fatalf("the bomb has %d bytes", len(bomb))
	}
	max := standardLimits()
	max.document = 1 << 20
	wantFindings(t, verify(t.Context(), bytes.NewReader(bomb), max), []string{"manifest.json has 16777216 bytes, more than this program reads"})
}

func TestVerifyErrors(t *testing.T) {
	_, err := Verify(t.Context(), filepath.Join(t.TempDir(), "nothing"))
	wantFault(t, err, "archive.unreadable")
	_, err = Verify(t.Context(), t.TempDir())
	wantFault(t, err, "archive.unreadable")
	dir, _ := makeRun(t)
	path := filepath.Join(dir, "a.tar.zst")
	if err := os.WriteFile(path, pack(t, dir), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(canceled(t), path); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestManifestForms(t *testing.T) {
	hash := strings.Repeat("0", 64)
	first := result.Artifact{Path: result.FileName, SHA256: hash}
	tests := []struct {
		name string
		m    Manifest
	}{
		{"no files", Manifest{Schema: Schema, Run: "r"}},
		{"result not first", Manifest{Schema: Schema, Run: "r", Files: []result.Artifact{{Path: "a", SHA256: hash}, first}}},
		{"result twice", Manifest{Schema: Schema, Run: "r", Files: []result.Artifact{first, first}}},
		{"no run", Manifest{Schema: Schema, Files: []result.Artifact{first}}},
		{"a path as run", Manifest{Schema: Schema, Run: "a/b", Files: []result.Artifact{first}}},
		{"a way up as run", Manifest{Schema: Schema, Run: "..", Files: []result.Artifact{first}}},
		{"short hash", Manifest{Schema: Schema, Run: "r", Files: []result.Artifact{first, {Path: "a", SHA256: "00"}}}},
		{"negative size", Manifest{Schema: Schema, Run: "r", Files: []result.Artifact{first, {Path: "a", SHA256: hash, Bytes: -1}}}},
		{"not sorted", Manifest{Schema: Schema, Run: "r", Files: []result.Artifact{first, {Path: "b", SHA256: hash}, {Path: "a", SHA256: hash}}}},
		{"way up", Manifest{Schema: Schema, Run: "r", Files: []result.Artifact{first, {Path: "../a", SHA256: hash}}}},
		{"absolute", Manifest{Schema: Schema, Run: "r", Files: []result.Artifact{first, {Path: "/a", SHA256: hash}}}},
		{"itself", Manifest{Schema: Schema, Run: "r", Files: []result.Artifact{first, {Path: manifestName, SHA256: hash}}}},
	}
	for _, tt := range tests {
		if _, err := decodeManifest(mustJSON(t, tt.m)); err == nil {
			t.Errorf("%s was accepted", tt.name)
		}
	}
	good := Manifest{Schema: Schema, Run: "r", Files: []result.Artifact{first, {Path: "a/b", SHA256: hash}}}
	if _, err := decodeManifest(mustJSON(t, good)); err != nil {
		t.Error(err)
	}
	if _, err := decodeManifest(append(mustJSON(t, good), "{}"...)); err == nil {
		t.Error("two documents were accepted")
	}
}

// Whatever stands in an archive, Verify ends with a report and passes nothing it should not.
func FuzzVerify(f *testing.F) {
	f.Add([]byte("x"), []byte("{}"), []byte("{}"))
	f.Add(mustFuzz(Manifest{Schema: Schema, Run: "r", Files: []result.Artifact{{Path: result.FileName, SHA256: strings.Repeat("0", 64)}}}), []byte("{}"), []byte("{}"))
	f.Fuzz(func(t *testing.T, manifest, signature, body []byte) {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, e := range []struct {
			name string
			body []byte
		}{{manifestName, manifest}, {signatureName, signature}, {result.FileName, body}, {"a", body}} {
			w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "r/" + e.name, Size: int64(len(e.body))})
			w.Write(e.body)
		}
		w.Close()
		v := verifier{max: standardLimits()}
		if err := v.readTar(tar.NewReader(io.LimitReader(&b, 1<<20))); err == nil {
			v.conclude()
		}
		for _, l := range v.report.Lines {
			if l.What == "signature" && l.State == OK {
				t.Errorf("a signature nobody made is good: %s", l.Text)
			}
		}
	})
}

func mustFuzz(m Manifest) []byte {
	b, _ := json.Marshal(m)
	return b
}
