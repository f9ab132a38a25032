package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestLogs(t *testing.T) {
	f := newFixture(t)
	run := f.endedRun()
	tests := []struct{ query, want string }{
		{"", "==> router.log <==\nalpha\nbeta\n==> server.log <==\none\ntwo\nthree\n"},
		{"?name=server.log", "one\ntwo\nthree\n"},
		{"?name=server.log&tail=2", "two\nthree\n"},
		{"?name=server.log&tail=99", "one\ntwo\nthree\n"},
		{"?name=router.log&tail=1", "beta"},
	}
	for _, tt := range tests {
		if got := f.do("GET", "/api/v1/runs/"+run.ID+"/logs"+tt.query, ""); string(got.body) != tt.want {
			t.Errorf("%q: %q, want %q", tt.query, got.body, tt.want)
		}
	}
}

func TestFilesRunNothingInABrowser(t *testing.T) {
	f := newFixture(t)
	run := f.endedRun()
	f.write(run.ID, "evil.html", "<script>alert(1)</script>")
	got := f.do("GET", "/api/v1/runs/"+run.ID+"/files/evil.html", "")
	h := got.header
	if h.Get("Content-Type") != "application/octet-stream" || h.Get("Content-Security-Policy") != filePolicy || h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers of a file: %v", h)
	}
	part := f.do("GET", "/api/v1/runs/"+run.ID+"/files/server.log", "", "Range", "bytes=4-6")
	if part.status != http.StatusPartialContent || string(part.body) != "two" {
		t.Errorf("range: %d %q", part.status, part.body)
	}
}

func TestFilesStayInTheFolder(t *testing.T) {
	f := newFixture(t)
	run := f.endedRun()
	dir := f.Store.RunDir(run.ID)
	secret := filepath.Join(f.Store.Dir(), "secret.txt")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	links := map[string]string{"absolute.txt": secret, "relative.txt": "../../secret.txt", "up": "../.."}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"absolute.txt", "relative.txt", "up/secret.txt", "pipe", "points", ".", "..", "../../secret.txt", "%2e%2e/%2e%2e/secret.txt",
		"..%2f..%2fsecret.txt", "points/../../../secret.txt", "/etc/passwd", "%2fetc%2fpasswd", "//etc/passwd", "server.log/", "..%5c..%5csecret.txt", "server.log%00",
	} {
		got := f.do("GET", "/api/v1/runs/"+run.ID+"/files/"+name, "")
		if got.status != http.StatusNotFound {
			t.Errorf("%s: %d %q", name, got.status, got.body)
		}
	}
}

// FuzzFilePath: whatever the path, nothing outside the run's folder comes out and the server does not fail.
func FuzzFilePath(f *testing.F) {
	for _, seed := range []string{"server.log", "../../secret.txt", "points/c1.rec", "up/secret.txt", "\x00", "..\\..\\secret.txt", "a/../../../secret.txt", "/etc/passwd", ""} {
		f.Add(seed)
	}
	dir := f.TempDir()
	inside := filepath.Join(dir, "runs", "r1")
	if err := os.MkdirAll(filepath.Join(inside, "points"), 0o755); err != nil {
		f.Fatal(err)
	}
	for name, text := range map[string]string{"secret.txt": "secret", "runs/r1/server.log": "inside", "runs/r1/points/c1.rec": "inside"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			f.Fatal(err)
		}
	}
	if err := os.Symlink("../..", filepath.Join(inside, "up")); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name string) {
		root, err := os.OpenRoot(inside)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		file, err := openFile(root, name)
		if err != nil {
			if problemOf(err).Status != http.StatusNotFound {
				t.Fatalf("%q: %v, want not found", name, err)
			}
			return
		}
		defer file.Close()
		if b, err := io.ReadAll(file); err != nil || string(b) != "inside" {
			t.Fatalf("%q gave %q, %v", name, b, err)
		}
		if _, err := url.Parse(fileType(name)); err != nil || strings.Contains(fileType(name), "html") {
			t.Fatalf("%q has type %s", name, fileType(name))
		}
	})
}

func TestArchive(t *testing.T) {
	f := newFixture(t)
	run := f.endedRun()
	got := f.do("GET", "/api/v1/runs/"+run.ID+"/archive", "")
	if string(got.body) != "archive of "+run.ID || got.header.Get("Content-Disposition") != `attachment; filename="`+run.ID+`.tar.zst"` {
		t.Errorf("archive: %q %v", got.body, got.header)
	}
}

func TestArchiveErrors(t *testing.T) {
	half := false
	f := newFixture(t, func(d *Deps) {
		d.Archive = func(_ context.Context, _ string, w io.Writer) error {
			if half {
				if _, err := io.WriteString(w, strings.Repeat("x", 100_000)); err != nil {
					return err
				}
			}
			return errors.New("disk on fire")
		}
	})
	run := f.endedRun()
	got := f.do("GET", "/api/v1/runs/"+run.ID+"/archive", "")
	if p := got.problem(t); p.Status != http.StatusInternalServerError || got.header.Get("Content-Disposition") != "" {
		t.Errorf("an error before the first byte: %+v", p)
	}
	half = true
	res, err := f.client.Get(f.http.URL + "/api/v1/runs/" + run.ID + "/archive")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.ReadAll(res.Body); err == nil {
		t.Error("half an archive looked like a whole one")
	}
}

// TestLogNames: the logs of many servers come as a person counts.
func TestLogNames(t *testing.T) {
	dir := t.TempDir()
	want := []string{"router.log", "server.log", "server-2.log", "server-2-2.log", "server-10.log", "server-10-2.log"}
	for _, name := range append(want, "server-2.txt") {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if got := logNames(root); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}
