package secrets

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/fault"
	"assay/plan"
	"assay/redact"
)

// Of are the values that a plan names, as far as they can be read: who needs one that is not there says so himself. getenv reads a variable
// of this program.
func Of(p plan.Plan, getenv func(string) string) []redact.Secret {
	var all []redact.Secret
	add := func(name, value string) {
		if value = strings.TrimSpace(value); value != "" {
			all = append(all, redact.Secret{Name: name, Value: value})
		}
	}
	for _, name := range Names(p) {
		add(name, getenv(name))
	}
	if p.Server.TokenFile != "" {
		if b, err := os.ReadFile(p.Server.TokenFile); err == nil {
			add("token_file", string(b))
		}
	}
	return all
}

// Names are the variables of this program that a plan names, in order, each once.
func Names(p plan.Plan) []string {
	names := slices.Concat(p.Server.EnvFrom, p.Client.EnvFrom, slices.Collect(maps.Values(p.Client.HeadersEnv)))
	if p.Server.TokenEnv != "" {
		names = append(names, p.Server.TokenEnv)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// InPlan names a secret that stands in the plan itself, and so would in every result; "" when none does. Values of other variables than
// those that are called a secret or sent as one, such as a path, may stand there.
func InPlan(p plan.Plan, getenv func(string) string) string {
	text := p.Canonical()
	sent := append(slices.Collect(maps.Values(p.Client.HeadersEnv)), p.Server.TokenEnv, "token_file")
	for _, s := range Of(p, getenv) {
		if (plan.LooksSecret(s.Name) || slices.Contains(sent, s.Name)) && redact.New(s).Holds(text) {
			return s.Name
		}
	}
	return ""
}

// Refuse refuses a plan that holds what it names, before it is kept anywhere: it stands in every result.
func Refuse(p plan.Plan, getenv func(string) string) error {
	if name := InPlan(p, getenv); name != "" {
		return fault.New(fault.Preflight, "secret_in_plan", "take it out of the plan, which stands in every result, and then change the secret",
			"the plan holds the value of %s itself", name)
	}
	return nil
}

// InFiles says which files below dir hold what looks like a secret; without are those that are passed over. What is compressed is not
// looked into.
func InFiles(dir string, without ...string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || filepath.Ext(name) == ".zst" {
			return err
		}
		at, err := filepath.Rel(dir, name)
		if err != nil || slices.Contains(without, filepath.ToSlash(at)) {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("look for secrets: %w", err)
		}
		defer f.Close()
		kinds, err := redact.Find(f)
		if len(kinds) > 0 {
			out = append(out, fmt.Sprintf("%s holds what looks like %s: it lies in the run's folder and in its archive", at, strings.Join(kinds, ", ")))
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the run never began
	}
	return out, err
}
