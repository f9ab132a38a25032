package inside

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// mark stands before the program's answer: what an image prints at the start of its Python comes before it.
const mark = "@assay@"

// program asks Python's own metadata for packages, given as name or name=module. No package is imported. It ends by itself: a program that was
// started in a container cannot be ended from outside.
const program = `
import importlib.metadata, importlib.util, json, os, platform, signal, sys
signal.alarm(20)

def text(*path):
    try:
        with open(os.path.join(*path), errors="replace") as f:
            return f.read(65536)
    except OSError:
        return ""

def git(path):
    while path != os.path.dirname(path):
        head = text(path, ".git", "HEAD").strip()
        if head.startswith("ref: "):
            ref = head[5:]
            packed = [l.split()[0] for l in text(path, ".git", "packed-refs").splitlines() if l.endswith(" " + ref)]
            head = text(path, ".git", ref).strip() or "".join(packed[:1])
        if head:
            return head
        path = os.path.dirname(path)
    return ""

packages = {}
for word in sys.argv[1:]:
    name, _, module = word.partition("=")
    try:
        d = importlib.metadata.distribution(name)
        p = {"version": d.version, "direct_url": d.read_text("direct_url.json") or ""}
        spec = importlib.util.find_spec(module) if module else None
        for at in (spec.submodule_search_locations or []) if spec else []:
            p["files"] = text(at, "version.py") + "\n" + text(at, "_version.py")
            if "-packages" not in at:
                p["git"] = git(at)
            break
        packages[name] = p
    except Exception:
        pass
print("` + mark + `" + json.dumps({"python": platform.python_version(), "executable": sys.executable, "packages": packages}))
`

// answer is what the program prints.
type answer struct {
	Python     string
	Executable string
	Packages   map[string]struct {
		Version   string
		DirectURL string `json:"direct_url"`
		Files     string // version.py and _version.py
		Git       string // head of the checkout that an editable package is installed from
	}
}

// wanted are the packages of all parts.
func wanted() (words []string) {
	for _, p := range parts() {
		for _, name := range p.packages {
			words = append(words, strings.TrimSuffix(name+"="+p.module, "="))
		}
	}
	return words
}

// PackageVersion is the version of a package of what runs in a world, by Python's own metadata.
func PackageVersion(ctx context.Context, w World, name string) (string, error) {
	a, err := askPython(ctx, w, []string{name})
	if err != nil {
		return "", err
	}
	if a.Python == "" {
		return "", errors.New("it does not run on Python")
	}
	if a.Packages[name].Version == "" {
		return "", fmt.Errorf("its Python (%s) has no package %s", line(a.Executable), name)
	}
	return line(a.Packages[name].Version), nil
}

// askPython runs the program with the first Python that answers. Packages are given as name or name=module.
func askPython(ctx context.Context, w World, packages []string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, pythonLimit)
	defer cancel()
	var failed error
	pythons := w.Pythons(ctx)
	if len(pythons) == 0 {
		return answer{}, nil // a server that is no Python
	}
	for _, python := range pythons {
		out, _, err := w.Run(ctx, slices.Concat([]string{python, "-B", "-c", program}, packages)...)
		if err == nil {
			return parseAnswer(out)
		}
		failed = errors.Join(failed, err)
		if ctx.Err() != nil {
			return answer{}, fmt.Errorf("it did not answer within %s", pythonLimit)
		}
	}
	return answer{}, fmt.Errorf("no Python answers (%s)", strings.ReplaceAll(failed.Error(), "\n", "; "))
}

// parseAnswer finds the answer behind whatever else was printed.
func parseAnswer(out []byte) (answer, error) {
	var a answer
	_, doc, ok := bytes.Cut(out, []byte(mark))
	if !ok || json.Unmarshal(bytes.TrimSpace(doc), &a) != nil {
		return answer{}, errors.New("its answer cannot be read")
	}
	return a, nil
}

// look gives what Python knows of a part.
func (a answer) look(p part) (found []finding) {
	if p.name == "python" {
		return []finding{{version: a.Python, source: line(a.Executable)}}
	}
	for _, name := range p.packages {
		if got, ok := a.Packages[name]; ok && got.Version != "" {
			version := got.Version
			if whole := assigned(got.Files, "__version__"); strings.HasPrefix(whole, version) {
				version = whole // with what it was built for: 2.8.0+cu128
			}
			found = append(found, finding{version, commitOf(version, got.DirectURL, got.Files, got.Git), "package " + name})
		}
	}
	return found
}

// builtFor is the version of a part that PyTorch was built for.
func (a answer) builtFor(p part) []finding {
	if p.field == "" {
		return nil
	}
	return []finding{{version: assigned(a.Packages["torch"].Files, p.field), source: "what PyTorch was built for"}}
}

// commitOf is the commit that a package was built from: as its installer noted it, as its build wrote it down, of the checkout it lies in, or at
// the end of its version.
func commitOf(version, directURL, files, git string) string {
	var doc struct {
		VCS struct {
			Commit string `json:"commit_id"`
		} `json:"vcs_info"`
	}
	_ = json.Unmarshal([]byte(directURL), &doc) // most packages have none
	tail := regexp.MustCompile(`[+.]g(?:it)?([0-9a-f]{7,40})(?:\.|$)`).FindStringSubmatch(version)
	if tail == nil {
		tail = []string{"", ""}
	}
	for _, c := range []string{doc.VCS.Commit, assigned(files, "__commit_id__"), assigned(files, "commit_id"), assigned(files, "git_version"), assigned(files, "__commit__"), git, tail[1]} {
		if c = hexOnly(c); c != "" {
			return c
		}
	}
	return ""
}

// assigned finds "name = 'value'", also with a type or in a chain of assignments, in Python's text.
func assigned(text, name string) string {
	m := regexp.MustCompile(`(?m)^(?:\w+ = )*` + name + `(?:: [\w\[\] |.]+)?(?: = \w+)* = ['"]([^'"\n]*)['"]`).FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	return m[1]
}
