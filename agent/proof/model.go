package proof

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"assay/containers"
	"assay/containers/engine"
	"assay/fault"
	"assay/plan"
	"assay/result"
)

// hashLimit is the largest model file that is hashed at the start of a run (a few seconds of reading).
const hashLimit = 8 << 30

// Model is what can be said of the plan's model before anything is started. The plan's revision stands in it only when the folder proves it.
// A folder that is of another revision is refused.
func Model(p plan.Plan) (result.ModelIdentity, error) {
	m := result.ModelIdentity{Name: p.Model.Name, Served: p.Model.Served, Path: p.Model.Path}
	info, err := os.Stat(p.Model.Path)
	if err != nil {
		return m, nil // without a path, or on another machine
	}
	if info.Mode().IsRegular() && info.Size() <= hashLimit {
		if m.SHA256, err = containers.FileSHA256(p.Model.Path); err != nil {
			return m, fmt.Errorf("hash the model: %w", err)
		}
	}
	if !info.IsDir() {
		return m, nil
	}
	if config := filepath.Join(p.Model.Path, "config.json"); exists(config) {
		if m.ConfigSHA256, err = containers.FileSHA256(config); err != nil {
			return m, fmt.Errorf("hash the model's config.json: %w", err)
		}
	}
	found, how := revisionOf(p.Model.Path)
	if want := p.Model.Revision; want != "" && found != "" && !sameRevision(want, found) {
		return m, fault.New(fault.Preflight, "model_differs", "write the revision that is there, or fetch the one that is wanted", "%s holds revision %s (%s), the plan wants %s", p.Model.Path, found, how, want)
	}
	m.Revision = found
	return m, nil
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// revisionOf tells of which commit of a hub's repository a folder is: the hub's cache names its folder by it, and a download into a folder
// of one's own writes it down beside the files.
func revisionOf(dir string) (revision, how string) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = dir
	}
	for _, d := range []string{filepath.Clean(dir), real} {
		if name := filepath.Base(d); filepath.Base(filepath.Dir(d)) == "snapshots" && isCommit(name) {
			return name, "by the name of its folder"
		}
	}
	const record = ".cache/huggingface/download/config.json.metadata"
	f, err := os.Open(filepath.Join(dir, record))
	if err != nil {
		return "", ""
	}
	defer f.Close()
	lines := bufio.NewScanner(io.LimitReader(f, 4096))
	if lines.Scan() && isCommit(strings.TrimSpace(lines.Text())) {
		return strings.TrimSpace(lines.Text()), "by " + record
	}
	return "", ""
}

func isCommit(s string) bool {
	return len(s) == 40 && strings.Trim(s, "0123456789abcdef") == ""
}

// sameRevision takes the short form of a commit for the commit.
func sameRevision(wanted, found string) bool {
	return wanted == found || len(wanted) >= 7 && strings.HasPrefix(found, wanted)
}

// Confirm adds the plan's revision to the model when the server that is ready proves it, and says what is not proved.
func Confirm(m *result.ModelIdentity, p plan.Plan, server containers.Identity) (note string) {
	want := p.Model.Revision
	if want == "" || m.Revision != "" {
		return ""
	}
	s, told := engine.Found(server.Settings, engine.Revision)
	if told && sameRevision(want, s.Value) && p.Model.Path == "" {
		m.Revision = s.Value
		return ""
	}
	where := "the server does not say which revision it has"
	if p.Model.Path != "" {
		where = p.Model.Path + " does not say which revision it holds"
	}
	return fmt.Sprintf("model.revision %s of the plan is not proved: %s", want, where)
}
