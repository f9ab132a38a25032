package weights

import (
	"path/filepath"
	"strings"

	"assay/containers/engine"
	"assay/fault"
	"assay/plan"
)

// revisions holds what names a revision against each other: model.revision, the flags of server.args, and a snapshot's folder.
func revisions(p plan.Plan, preset engine.Preset) error {
	type word struct{ text, where string }
	var words []word
	add := func(text, where string) {
		if text != "" {
			words = append(words, word{text, where})
		}
	}
	add(p.Model.Revision, "model.revision")
	if dir := filepath.Clean(p.Model.Path); filepath.Base(filepath.Dir(dir)) == "snapshots" {
		add(filepath.Base(dir), "the folder of model.path")
	}
	for _, flags := range [][]string{preset.Flags.Revision, preset.Flags.TokenizerRevision} {
		if len(flags) == 0 || len(words) > 0 && said(p, "--tokenizer", "--tokenizer-path") && flags[0] == "--tokenizer-revision" {
			continue // of another repository
		}
		value, _ := engine.FlagValue(p.Server.Args, flags)
		add(value, flags[0]+" in server.args")
	}
	for _, w := range words[min(1, len(words)):] {
		if first := words[0]; !same(first.text, w.text) {
			return fault.New(fault.Preflight, "revision_conflict", "write one revision, the 40 hex digits of its commit, or leave the others out",
				"the plan names two revisions of the model: %s is %s, %s is %s", first.where, first.text, w.where, w.text)
		}
	}
	return nil
}

// same takes the short form of a commit for the commit.
func same(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || len(a) >= 7 && strings.HasPrefix(b, a)
}
