package weights

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"assay/containers/engine"
	"assay/fault"
	"assay/plan"
)

// listed bounds how many files a fault names.
const listed = 8

// Check looks at the plan's model: its files, its revision, and what the server's arguments refer to. getenv reads the environment that a process
// inherits. What is wrong is one fault that names each file. A model that is not on this machine is the server's own affair.
func Check(p plan.Plan, getenv func(string) string) error {
	if p.Server.Runtime == "endpoint" {
		return nil // what runs already has loaded it
	}
	preset, err := engine.PresetNamed(p.Server.Engine)
	if err != nil {
		return err
	}
	if err := revisions(p, preset); err != nil {
		return err
	}
	if p.Model.Path != "" {
		if err := files(p); err != nil {
			return err
		}
	}
	return references(p, preset, getenv)
}

// files looks at the model's own files.
func files(p plan.Plan) error {
	info, err := os.Stat(p.Model.Path)
	if err != nil {
		return fault.New(fault.Preflight, "model_missing", "correct model.path, or put the model there", "the plan's model cannot be read: %w", err)
	}
	var wrong []string
	switch {
	case info.IsDir() && p.Server.Engine == "llamacpp":
		return aFolder(p.Model.Path)
	case info.IsDir():
		if wrong, err = folder(p); err != nil {
			return fmt.Errorf("look at the model in %s: %w", p.Model.Path, err)
		}
	case isWeights(p.Model.Path):
		wrong, _ = weightFile(p.Model.Path)
	}
	return incomplete(p.Model.Path, wrong)
}

// aFolder says that a folder was named where one of its files is meant.
func aFolder(path string) error {
	hint := "name a .gguf file in model.path"
	if found, _ := filepath.Glob(filepath.Join(path, "*.gguf")); len(found) > 0 {
		hint += ", such as " + found[0]
	}
	return fault.New(fault.Preflight, "model_incomplete", hint, "the model in %s cannot be loaded: llama.cpp loads a .gguf file, and this is a folder", path)
}

func incomplete(where string, wrong []string) error {
	if len(wrong) == 0 {
		return nil
	}
	rest := ""
	if len(wrong) > listed {
		wrong, rest = wrong[:listed], fmt.Sprintf("; and %d more", len(wrong)-listed)
	}
	return fault.New(fault.Preflight, "model_incomplete", "fetch the model again, and let the download end: hf download, or git lfs pull in a clone",
		"the model in %s cannot be loaded: %s%s", where, strings.Join(wrong, "; "), rest)
}
