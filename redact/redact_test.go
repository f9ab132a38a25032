package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/fault"
)

const key = `sk-"never/tell+01234`

func TestText(t *testing.T) {
	r := New(Secret{"KEY", key}, Secret{"LONGER", key + "-and-more"}, Secret{"SHORT", "x1"}, Secret{"NONE", ""})
	basic := base64.StdEncoding.EncodeToString([]byte("user:" + key))
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "x1 is all that is said", "x1 is all that is said"},
		{"as it is", "key " + key + ".", "key [secret KEY]."},
		{"the longer one", key + "-and-more", "[secret LONGER]"},
		{"as JSON", `{"k":"sk-\"never/tell+01234"}`, `{"k":"[secret KEY]"}`},
		{"in an address", "?k=sk-%22never%2Ftell%2B01234&x=sk-%22never%2ftell%2b01234", "?k=[secret KEY]&x=[secret KEY]"},
		{"cut off", `last line "sk-"never/t…", sk-"n…, ` + key[:len(key)-1] + "…", `last line "[secret LONGER]…", sk-"n…, [secret LONGER]…`},
		{"cut off as JSON", `sk-\"never/tell…`, "[secret LONGER]…"},
		{"as Basic", "Basic " + basic, "Basic " + basic[:7] + "[secret KEY]" + basic[len(basic)-1:]},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := r.Text(c.text)
			if c.name == "as Basic" {
				if strings.Contains(got, basic[8:20]) || !strings.Contains(got, "[secret KEY]") {
					t.Errorf("%q", got)
				}
				return
			}
			if got != c.want || string(r.Bytes([]byte(c.text))) != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	if New(Secret{"SHORT", "1234567"}) != nil || (*Redactor)(nil).Text(key) != key || (*Redactor)(nil).Holds([]byte(key)) {
		t.Error("what is too short is hidden everywhere")
	}
}

func TestFault(t *testing.T) {
	r := New(Secret{"KEY", key})
	cause := errors.New("cause")
	f := r.Fault(fault.New(fault.Server, "x", "not "+key, "bad %s: %w", key, cause))
	if f.Text != "bad [secret KEY]: cause" || f.Hint != "not [secret KEY]" || f.Code != "server.x" || !errors.Is(f, cause) {
		t.Errorf("%+v", f)
	}
	if r.Fault(nil) != nil {
		t.Error("a fault of none")
	}
}

// TestJSON: a value such as "endpoint" is a secret in texts, and no document loses a key by it.
func TestJSON(t *testing.T) {
	r := New(Secret{"WORD", "endpoint"}, Secret{"KEY", key})
	in := `{"endpoint": {"n":1.50, "said":"an endpoint", "q":"\"endpoint\\"}}` + "\n" + `{"a":["` + `sk-\"never/tell+01234` + `"]}` + "\n"
	want := `{"endpoint": {"n":1.50, "said":"an [secret WORD]", "q":"\"[secret WORD]\\"}}` + "\n" + `{"a":["[secret KEY]"]}` + "\n"
	if diff := cmp.Diff(want, string(r.JSON([]byte(in)))); diff != "" {
		t.Error(diff)
	}
	type doc struct{ A, B string }
	for said, want := range map[string]string{
		"a " + key:                             "a [secret KEY]",
		`a line {"k":"sk-\"never/tell+01234"}`: `a line {"k":"[secret KEY]"}`, // the document escapes it once more
		`a line {"k":"sk-\"never/te…`:          `a line {"k":"[secret KEY]…`,
		`a path C:\dir`:                        `a path C:\dir`,
	} {
		got, err := Value(r, doc{"x", said})
		if diff := cmp.Diff(doc{"x", want}, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
}

// TestWriterOverBorders cuts a text at every place.
func TestWriterOverBorders(t *testing.T) {
	r := New(Secret{"KEY", key}, Secret{"OTHER", "sk-other-0123"})
	text := "begin " + key + key + " sk-ot sk-other-0123 sk-"
	want := "begin [secret KEY][secret KEY] sk-ot [secret OTHER] sk-"
	for size := 1; size <= len(text); size++ {
		var out bytes.Buffer
		w := r.Writer(&out)
		for at := 0; at < len(text); at += size {
			if n, err := w.Write([]byte(text[at:min(at+size, len(text))])); err != nil || n == 0 {
				t.Fatal(n, err)
			}
		}
		if err := errors.Join(w.Close(), w.Close()); err != nil || out.String() != want {
			t.Fatalf("in pieces of %d: %q, %v", size, out.String(), err)
		}
	}
	var out bytes.Buffer
	w := r.Writer(&out)
	if _, _ = w.Write([]byte("a whole line\n")); out.String() != "a whole line\n" {
		t.Errorf("a line that holds nothing is held back: %q", out.String())
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	r := New(Secret{"KEY", key})
	across := strings.Repeat("x", pieceBytes-5) + key + strings.Repeat("y", pieceBytes)
	asJSON, err := json.Marshal(map[string]string{key: key})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][2]string{
		"server.log":       {"a\n" + key + "\n", "a\n[secret KEY]\n"},
		"below/large.log":  {across, strings.ReplaceAll(across, key, "[secret KEY]")},
		"inspect.json":     {string(asJSON), `{"[secret KEY]":"[secret KEY]"}`},
		"broken.json":      {`{"a": ` + key, `{"a": [secret KEY]`},
		"untouched.log":    {"nothing", "nothing"},
		"below/none.jsonl": {"", ""},
	}
	for name, c := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(c[0]), 0o640)); err != nil {
			t.Fatal(err)
		}
	}
	before, _ := os.Stat(filepath.Join(dir, "untouched.log"))
	if err := errors.Join(r.Folder(dir), r.Folder(filepath.Join(dir, "none")), (*Redactor)(nil).Folder(dir)); err != nil {
		t.Fatal(err)
	}
	for name, c := range files {
		b, err := os.ReadFile(filepath.Join(dir, name))
		info, serr := os.Stat(filepath.Join(dir, name))
		if err != nil || serr != nil || string(b) != c[1] || info.Mode().Perm() != 0o640 {
			t.Errorf("%s: %.80q, %v %v", name, b, err, serr)
		}
	}
	if after, _ := os.Stat(filepath.Join(dir, "untouched.log")); !os.SameFile(before, after) {
		t.Error("a file without secrets was written anew")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".redact-*")); left != nil {
		t.Errorf("left: %v", left)
	}
}

func TestFind(t *testing.T) {
	long := strings.Repeat("ab1", 15)
	for text, want := range map[string][]string{
		"":                                      nil,
		"hf_short sk-learn Bearer of the ring":  nil,
		"Authorization: Bearer " + long:         {"a bearer token"},
		"x hf_" + long:                          {"a Hugging Face token"},
		"ghp_" + long + " AKIAABCDEFGHIJKLMNOP": {"a GitHub token", "an AWS access key"},
		strings.Repeat("x ", pieceBytes/2-4) + "sk-" + long + strings.Repeat(" y", 100): {"an API key (sk-…)"},
		"-----BEGIN OPENSSH PRIVATE KEY-----":                                           {"a private key"},
	} {
		got, err := Find(strings.NewReader(text))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%.60q: %v %s", text, err, diff)
		}
	}
}

// FuzzWriter: however a stream is cut, it comes out as the whole does, and holds no secret.
func FuzzWriter(f *testing.F) {
	f.Add("begin "+key+" end", key, uint8(3))
	f.Add("aaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaa", uint8(1))
	f.Fuzz(func(t *testing.T, text, secret string, size uint8) {
		r := New(Secret{"N", secret})
		if r == nil || strings.Contains("[secret N]", secret) {
			return
		}
		var out bytes.Buffer
		w := r.Writer(&out)
		step := int(size)%17 + 1
		for at := 0; at < len(text); at += step {
			if _, err := w.Write([]byte(text[at:min(at+step, len(text))])); err != nil {
				t.Fatal(err)
			}
		}
		_ = w.Close()
		if strings.Contains(text, secret) && !strings.Contains(out.String(), "[secret N]") {
			t.Errorf("%q in %q: %q", secret, text, out.String())
		}
	})
}

func FuzzJSON(f *testing.F) {
	f.Add(`{"a":"endpoint","endpoint":["endpoint",1e3]}`)
	f.Fuzz(func(t *testing.T, doc string) {
		r := New(Secret{"WORD", "endpoint"})
		got := r.JSON([]byte(doc))
		if json.Valid([]byte(doc)) && !json.Valid(got) {
			t.Errorf("%s became %s", doc, got)
		}
	})
}
