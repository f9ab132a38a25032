package weights

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/fault"
	"assay/plan"
)

const commit = "1bae0e1088993b9b82de08f59de5be5a34e42170"

// shard is a whole safetensors file with n bytes of tensors, which all are of the first; without names it is called w.
func shard(n int, names ...string) string {
	if len(names) == 0 {
		names = []string{"w"}
	}
	header := `{"__metadata__":{"format":"pt"}`
	for i, name := range names {
		begin := min(i, 1) * n
		header += fmt.Sprintf(`,"%s":{"dtype":"U8","shape":[1,1,1,1],"data_offsets":[%d,%d]}`, name, begin, n)
	}
	header += "}"
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, uint64(len(header)))
	return b.String() + header + strings.Repeat("x", n)
}

// ggufText is the beginning of a GGUF file.
func ggufText() string { return "GGUF\x03\x00\x00\x00" + strings.Repeat("\x00", 16) }

const (
	lfs   = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
	index = `{"metadata":{"total_size":8},"weight_map":{"a":"model-1.safetensors","b":"model-2.safetensors","c":"model-1.safetensors"}}`
)

// whole is a model of the hub's form in two shards.
func whole() map[string]string {
	return map[string]string{"config.json": "{}", "tokenizer.json": "{}", "model.safetensors.index.json": index, "model-1.safetensors": shard(4, "a", "c"), "model-2.safetensors": shard(5, "b")}
}

// folderOf writes files below a folder of a name; "-> to" is a link.
func folderOf(t *testing.T, files map[string]string, under ...string) string {
	t.Helper()
	dir := filepath.Join(append([]string{t.TempDir()}, under...)...)
	for name, text := range files {
		file := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if to, link := strings.CutPrefix(text, "-> "); link {
			err = errors.Join(err, os.Symlink(to, file))
		} else {
			err = errors.Join(err, os.WriteFile(file, []byte(text), 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func planOf(engine, runtime, path string, args ...string) plan.Plan {
	return plan.Plan{Model: plan.Model{Name: "org/m", Served: "m", Path: path}, Server: plan.Server{Engine: engine, Runtime: runtime, Args: args}}
}

func wantFault(t *testing.T, name string, err error, code string, words ...string) {
	t.Helper()
	if code == "" {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return
	}
	var f *fault.Fault
	if !errors.As(err, &f) || f.Code != code || f.Hint == "" {
		t.Errorf("%s: %v, want %s", name, err, code)
		return
	}
	for _, w := range words {
		if !strings.Contains(f.Text, w) {
			t.Errorf("%s: %q is not in %q", name, w, f.Text)
		}
	}
}

func none(string) string { return "" }

func TestCheckFolder(t *testing.T) {
	for _, c := range []struct {
		name, engine string
		args         []string
		change       func(map[string]string)
		says         string // what is wrong; "" is nothing
	}{
		{"whole", "vllm", nil, func(map[string]string) {}, ""},
		{"a shard is missing", "vllm", nil, func(m map[string]string) { delete(m, "model-2.safetensors") }, "model-2.safetensors, which model.safetensors.index.json names, is not there"},
		{"all shards are missing", "sglang", nil, func(m map[string]string) { delete(m, "model-1.safetensors"); delete(m, "model-2.safetensors") }, "model-1.safetensors, which"},
		{"a shard without tensors", "vllm", nil, func(m map[string]string) { m["model-2.safetensors"] = "\x02\x00\x00\x00\x00\x00\x00\x00{}" }, "model-2.safetensors has no tensor b"},
		{"a shard of another revision", "vllm", nil, func(m map[string]string) { m["model-2.safetensors"] = shard(5, "b2") }, "model-2.safetensors has no tensor b, which an index says"},
		{"a tensor that no shard has", "vllm", nil, func(m map[string]string) { m["model-1.safetensors"] = shard(4, "a") }, "model-1.safetensors has no tensor c"},
		{"a tensor in another shard", "vllm", nil, func(m map[string]string) {
			m["model-1.safetensors"], m["model-2.safetensors"] = shard(4, "a"), shard(5, "b", "c")
		}, ""},
		{"an output layer that is the embeddings", "vllm", nil, func(m map[string]string) {
			m["model.safetensors.index.json"] = strings.Replace(index, `"c"`, `"lm_head.weight"`, 1)
		}, ""},
		{"an empty shard", "vllm", nil, func(m map[string]string) { m["model-1.safetensors"] = "" }, "model-1.safetensors is empty"},
		{"a shard that is cut off", "vllm", nil, func(m map[string]string) { m["model-1.safetensors"] = shard(4)[:len(shard(4))-1] }, "is cut off: it should have"},
		{"a shard that is cut off in its header", "vllm", nil, func(m map[string]string) { m["model-1.safetensors"] = shard(4)[:20] }, "is cut off: its header has"},
		{"a shard of a few bytes", "vllm", nil, func(m map[string]string) { m["model-1.safetensors"] = "abc" }, "is cut off: it has 3 bytes"},
		{"a shard that goes on", "vllm", nil, func(m map[string]string) { m["model-1.safetensors"] = shard(4) + "x" }, "is too long"},
		{"a page in place of a shard", "vllm", nil, func(m map[string]string) { m["model-1.safetensors"] = "<!doctype html>" }, "is no safetensors file"},
		{"a pointer in place of a shard", "vllm", nil, func(m map[string]string) { m["model-1.safetensors"] = lfs }, "is a pointer of git-lfs"},
		{"a link that leads nowhere", "vllm", nil, func(m map[string]string) { m["model-1.safetensors"] = "-> ../../blobs/0" }, "is a link to ../../blobs/0, which is not there"},
		{"no config", "vllm", nil, func(m map[string]string) { delete(m, "config.json") }, "it has no config.json"},
		{"no config, by a server that may need none", "openai", nil, func(m map[string]string) { delete(m, "config.json") }, ""},
		{"a config that is cut off", "openai", nil, func(m map[string]string) { m["config.json"] = `{"a":` }, "config.json is no JSON"},
		{"no tokenizer", "vllm", nil, func(m map[string]string) { delete(m, "tokenizer.json") }, "it has no tokenizer"},
		{"no tokenizer, another is named", "vllm", []string{"--tokenizer=/x"}, func(m map[string]string) { delete(m, "tokenizer.json") }, "the server does not see"},
		{"no tokenizer, none is wanted", "vllm", []string{"--skip-tokenizer-init"}, func(m map[string]string) { delete(m, "tokenizer.json") }, ""},
		{"no weights", "vllm", nil, func(m map[string]string) { clear(m); m["config.json"], m["tokenizer.json"] = "{}", "{}" }, "it has no weights"},
		{"what training left is no weights", "vllm", nil, func(m map[string]string) {
			clear(m)
			m["config.json"], m["tokenizer.json"], m["training_args.bin"], m["optimizer.pt"], m["rng_state_0.pth"] = "{}", "{}", "x", "x", "x"
		}, "it has no weights"},
		{"all shards are missing beside what training left", "vllm", nil, func(m map[string]string) {
			delete(m, "model-1.safetensors")
			delete(m, "model-2.safetensors")
			m["training_args.bin"] = "x"
		}, "model-2.safetensors, which"},
		{"numbered shards without an index", "vllm", nil, numbered(1, 3, 2), ""},
		{"a numbered shard without an index is missing", "vllm", nil, numbered(3, 1), "model-00002-of-00003.safetensors, which model-00001-of-00003.safetensors is one of, is not there"},
		{"no weights, none are wanted", "vllm", []string{"--load-format", "dummy"}, func(m map[string]string) { clear(m); m["config.json"], m["tokenizer.json"] = "{}", "{}" }, ""},
		{"the index of another form", "vllm", nil, func(m map[string]string) {
			m["pytorch_model.bin.index.json"] = `{"weight_map":{"a":"pytorch_model-1.bin"}}`
		}, ""},
		{"half of another form", "vllm", nil, func(m map[string]string) {
			m["pytorch_model.bin.index.json"], m["p-1.bin"] = `{"weight_map":{"a":"p-1.bin","b":"p-2.bin"}}`, "x"
		}, "p-2.bin, which"},
		{"an index that leads elsewhere", "vllm", nil, func(m map[string]string) {
			m["model.safetensors.index.json"] = `{"weight_map":{"a":"../m.safetensors"}}`
		}, "no file beside it"},
		{"an index that is cut off", "vllm", nil, func(m map[string]string) { m["model.safetensors.index.json"] = index[:20] }, "no index"},
		{"a folder for llama.cpp", "llamacpp", nil, func(map[string]string) {}, "a .gguf file"},
	} {
		files := whole()
		c.change(files)
		code := ""
		if c.says != "" {
			code = "preflight.model_incomplete"
			if strings.Contains(c.says, "does not see") {
				code = "preflight.reference_missing"
			}
		}
		wantFault(t, c.name, Check(planOf(c.engine, "process", folderOf(t, files), c.args...), none), code, c.says)
	}
	gguf := folderOf(t, map[string]string{"q4.gguf": "GGUF"})
	err := Check(planOf("llamacpp", "process", gguf), none)
	if f := fault.Of(err, fault.Preflight); f.Code != "preflight.model_incomplete" || f.Hint != "name a .gguf file in model.path, such as "+filepath.Join(gguf, "q4.gguf") {
		t.Errorf("%+v", f)
	}
	wantFault(t, "no model", Check(planOf("vllm", "process", "/no/such/model"), none), "preflight.model_missing")
	wantFault(t, "a server that runs already", Check(planOf("vllm", "endpoint", "/no/such/model"), none), "")
}

// numbered leaves these of three shards, and no index.
func numbered(there ...int) func(map[string]string) {
	return func(m map[string]string) {
		clear(m)
		m["config.json"], m["tokenizer.json"] = "{}", "{}"
		for _, i := range there {
			m[fmt.Sprintf("model-%05d-of-00003.safetensors", i)] = shard(4)
		}
	}
}

// TestCheckLinks: of a hub's cache the repository is mounted, of another folder that folder alone.
func TestCheckLinks(t *testing.T) {
	files := whole()
	files["model-1.safetensors"], files["../../blobs/1"] = "-> ../../blobs/1", shard(4, "a", "c")
	snapshot := folderOf(t, files, "models--org--m", "snapshots", commit)
	wantFault(t, "a snapshot", Check(planOf("vllm", "docker", snapshot), none), "")
	delete(files, "../../blobs/1")
	files["model-1.safetensors"], files["../elsewhere/1"] = "-> ../elsewhere/1", shard(4, "a", "c")
	loose := folderOf(t, files, "m")
	wantFault(t, "a link out of the folder, for a process", Check(planOf("vllm", "process", loose), none), "")
	wantFault(t, "a link out of the folder", Check(planOf("vllm", "docker", loose), none), "preflight.model_incomplete", "outside of what is mounted")
	target := filepath.Join(folderOf(t, map[string]string{"1": shard(4, "a", "c")}), "1")
	delete(files, "../elsewhere/1")
	files["model-1.safetensors"] = "-> " + target
	absolute := planOf("vllm", "docker", folderOf(t, files, "m"))
	wantFault(t, "an absolute link", Check(absolute, none), "preflight.model_incomplete", "a path that the container does not have")
	absolute.Server.Mounts = []plan.Mount{{Source: filepath.Dir(target), Target: filepath.Dir(target)}}
	wantFault(t, "an absolute link to what is mounted at the same path", Check(absolute, none), "")
}

func TestCheckGGUF(t *testing.T) {
	for _, c := range []struct {
		name, load string
		files      map[string]string
		says       string
	}{
		{"one file", "m.gguf", map[string]string{"m.gguf": ggufText()}, ""},
		{"no GGUF", "m.gguf", map[string]string{"m.gguf": strings.Repeat("<html>", 10)}, "is no GGUF file"},
		{"cut off", "m.gguf", map[string]string{"m.gguf": "GGUF"}, "is cut off"},
		{"a pointer", "m.gguf", map[string]string{"m.gguf": lfs}, "git-lfs"},
		{"another byte order", "m.gguf", map[string]string{"m.gguf": "GGUF\x00\x00\x00\x03" + strings.Repeat("\x00", 16)}, "byte order"},
		{"all parts", "m-00001-of-00002.gguf", map[string]string{"m-00001-of-00002.gguf": ggufText(), "m-00002-of-00002.gguf": ggufText()}, ""},
		{"a part is missing", "m-00001-of-00002.gguf", map[string]string{"m-00001-of-00002.gguf": ggufText()}, "m-00002-of-00002.gguf cannot be read: no such file"},
		{"a part is empty", "m-00001-of-00002.gguf", map[string]string{"m-00001-of-00002.gguf": ggufText(), "m-00002-of-00002.gguf": ""}, "m-00002-of-00002.gguf is cut off"},
	} {
		code := ""
		if c.says != "" {
			code = "preflight.model_incomplete"
		}
		wantFault(t, c.name, Check(planOf("llamacpp", "process", filepath.Join(folderOf(t, c.files), c.load)), none), code, c.says)
	}
}

// TestCheckOneFile: a model may be one file of the hub's forms too.
func TestCheckOneFile(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"m.safetensors": {lfs, "is a pointer of git-lfs"},
		"n.safetensors": {"x", "is cut off"},
		"m.bin":         {"", "is empty"},
	} {
		path := filepath.Join(folderOf(t, map[string]string{name: c.text}), name)
		wantFault(t, name, Check(planOf("vllm", "process", path), none), "preflight.model_incomplete", c.says)
	}
}

func TestRevisions(t *testing.T) {
	snapshot := folderOf(t, whole(), "models--org--m", "snapshots", commit)
	const another = "2bae0e1088993b9b82de08f59de5be5a34e42170"
	for _, c := range []struct {
		name, path, revision string
		args                 []string
		code, says           string
	}{
		{"none", snapshot, "", nil, "", ""},
		{"all the same", snapshot, commit, []string{"--revision", commit, "--tokenizer-revision", commit}, "", ""},
		{"its short form", snapshot, commit[:8], []string{"--revision=" + commit}, "", ""},
		{"a tag that begins as another", "", "v1", []string{"--revision", "v1.0"}, "preflight.revision_conflict", "--revision in server.args is v1.0"},
		{"plan and folder", snapshot, another, nil, "preflight.revision_conflict", "the folder of model.path is " + commit},
		{"plan and arguments", "", commit, []string{"--revision", another}, "preflight.revision_conflict", "--revision in server.args is " + another},
		{"folder and arguments", snapshot, "", []string{"--revision", "main"}, "preflight.revision_conflict", "main"},
		{"the tokenizer's", "", commit, []string{"--tokenizer-revision", another}, "preflight.revision_conflict", "--tokenizer-revision"},
		{"the tokenizer's, of another repository", "", commit, []string{"--tokenizer", "org/other", "--tokenizer-revision", another}, "", ""},
	} {
		p := planOf("vllm", "process", c.path, c.args...)
		p.Model.Revision, p.Server.Env = c.revision, map[string]string{"HF_HUB_OFFLINE": "0", "TRANSFORMERS_OFFLINE": "0"}
		wantFault(t, c.name, Check(p, none), c.code, c.says)
	}
}

// cacheOf is a hub's cache with one repository.
func cacheOf(t *testing.T, repository string) string {
	t.Helper()
	name := "models--" + strings.ReplaceAll(repository, "/", "--")
	return folderOf(t, map[string]string{name + "/refs/main": commit, name + "/snapshots/" + commit + "/config.json": "{}"}, "hub")
}

// vllm#23684: a model on disk with HF_HUB_OFFLINE=1 and something beside it that is only on the hub; club-3090#322: a draft model that nobody
// fetched. What the arguments refer to is looked for before the start, which would end minutes later.
func TestField_vllm_23684(t *testing.T) {
	model, hub := folderOf(t, whole()), cacheOf(t, "org/draft")
	home := folderOf(t, map[string]string{".cache/huggingface": "-> " + filepath.Dir(hub)})
	template := filepath.Join(folderOf(t, map[string]string{"chat.jinja": "x"}), "chat.jinja")
	for _, c := range []struct {
		name, runtime string
		args          []string
		env           map[string]string
		mounts        []plan.Mount
		says          string
	}{
		{"nothing beside it", "process", nil, nil, nil, ""},
		{"a tokenizer that is not there", "process", []string{"--tokenizer", "org/other"}, nil, nil, "--tokenizer names org/other"},
		{"a draft model that is there", "process", []string{"--speculative-config", `{"model":"org/draft","num_speculative_tokens":3}`}, nil, nil, ""},
		{"a draft model of a revision that is not there", "process", []string{"--speculative-config", `{"model":"org/draft","revision":"` + strings.Repeat("a", 40) + `"}`}, nil, nil, "org/draft"},
		{"a draft model that is not there", "process", []string{"--speculative-config={\"model\":\"org/none\"}"}, nil, nil, "--speculative-config names org/none"},
		{"n-grams need none", "process", []string{"--speculative-config", `{"method":"ngram"}`}, nil, nil, ""},
		{"it may be fetched", "process", []string{"--tokenizer", "org/other"}, map[string]string{"HF_HUB_OFFLINE": "0", "TRANSFORMERS_OFFLINE": "0"}, nil, ""},
		{"an adapter", "process", []string{"--lora-modules", "a=org/draft", "b=org/none", "--port", "1"}, nil, nil, "--lora-modules names org/none"},
		{"an adapter in JSON", "process", []string{"--lora-modules", `{"name":"a","path":"/no/adapter"}`}, nil, nil, "--lora-modules names /no/adapter"},
		{"a file that is there", "process", []string{"--chat-template", template}, nil, nil, ""},
		{"a file that is not there", "process", []string{"--chat-template", "/no/chat.jinja"}, nil, nil, "/no/chat.jinja, which the server does not see"},
		{"a container without the cache", "docker", []string{"--tokenizer", "org/draft"}, nil, nil, "org/draft"},
		{"a container with it", "docker", []string{"--tokenizer", "org/draft"}, nil, []plan.Mount{{Source: filepath.Dir(hub), Target: "/root/.cache/huggingface"}}, ""},
		{"a container with it elsewhere", "docker", []string{"--tokenizer", "org/draft"}, map[string]string{"HF_HUB_CACHE": "/cache"}, []plan.Mount{{Source: hub, Target: "/cache"}}, ""},
		{"a container with another", "docker", []string{"--tokenizer", "org/none"}, map[string]string{"HF_HOME": "/hf"}, []plan.Mount{{Source: filepath.Dir(hub), Target: "/hf"}}, "org/none"},
		{"a file of a mount", "docker", []string{"--chat-template", "/t/chat.jinja"}, nil, []plan.Mount{{Source: filepath.Dir(template), Target: "/t"}}, ""},
		{"a file that the mount lacks", "docker", []string{"--chat-template", "/t/other.jinja"}, nil, []plan.Mount{{Source: filepath.Dir(template), Target: "/t"}}, "/t/other.jinja"},
		{"a mount in a mount, which has it", "docker", []string{"--chat-template", "/t/in/chat.jinja"}, nil, []plan.Mount{{Source: filepath.Dir(template), Target: "/t/in"}, {Source: model, Target: "/t"}}, ""},
		{"a mount in a mount, which hides it", "docker", []string{"--chat-template", "/t/chat.jinja"}, nil, []plan.Mount{{Source: filepath.Dir(template), Target: "/"}, {Source: model, Target: "/t"}}, "/t/chat.jinja"},
		{"the same, the nearest first", "docker", []string{"--chat-template", "/in/config.json"}, nil, []plan.Mount{{Source: model, Target: "/in"}, {Source: filepath.Dir(template), Target: "/"}}, ""},
		{"a file of the image", "docker", []string{"--chat-template", "/vllm/examples/chat.jinja"}, nil, nil, ""},
	} {
		p := planOf("vllm", c.runtime, model, c.args...)
		p.Server.Env, p.Server.Mounts = c.env, c.mounts
		code := ""
		if c.says != "" {
			code = "preflight.reference_missing"
		}
		wantFault(t, c.name, Check(p, func(name string) string { return map[string]string{"HOME": home}[name] }), code, c.says)
	}
	named := planOf("vllm", "process", "")
	named.Server.Env = map[string]string{"HF_HUB_OFFLINE": "1", "HF_HUB_CACHE": hub}
	wantFault(t, "the model itself", Check(named, none), "preflight.reference_missing", "model.name names org/m")
	named.Model.Name = "org/draft"
	wantFault(t, "the model itself, in the cache", Check(named, none), "")
}

func FuzzSafetensors(f *testing.F) {
	f.Add([]byte(shard(3)))
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := safetensors(bytes.NewReader(b), int64(len(b))); err == nil && len(b) < 10 {
			t.Errorf("%q is taken for whole", b)
		}
	})
}

func FuzzGGUF(f *testing.F) {
	f.Add([]byte(ggufText()))
	f.Fuzz(func(t *testing.T, b []byte) {
		if gguf(bytes.NewReader(b), int64(len(b))) == nil && !bytes.HasPrefix(b, []byte("GGUF")) {
			t.Errorf("%q is taken for GGUF", b)
		}
	})
}

func FuzzParseIndex(f *testing.F) {
	f.Add([]byte(index))
	f.Fuzz(func(t *testing.T, b []byte) {
		shards, err := parseIndex(b)
		for s := range shards {
			if err == nil && strings.Contains(s, "/") {
				t.Errorf("%q leads elsewhere", s)
			}
		}
	})
}

func FuzzReferred(f *testing.F) {
	f.Add(`--speculative-config {"model":"a/b"} --lora-modules x=y {"path":"z"}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range referred(strings.Fields(text)) {
			if r.flag == "" {
				t.Error("a reference without its flag")
			}
		}
	})
}
