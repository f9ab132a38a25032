package weights

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/containers"
	"assay/plan"
)

// outside tells of a link that leads to where a container does not see it.
func outside(p plan.Plan, file string) string {
	if p.Server.Runtime != "docker" {
		return ""
	}
	to, err := os.Readlink(file)
	if err != nil {
		return "" // no link
	}
	seen := func(target string) bool {
		return slices.ContainsFunc(p.Server.Mounts, func(m plan.Mount) bool { return m.Source == m.Target && below(m.Source, target) })
	}
	switch {
	case filepath.IsAbs(to) && !seen(to):
		return "is a link to " + to + ", a path that the container does not have"
	case filepath.IsAbs(to):
		return ""
	}
	target := filepath.Join(filepath.Dir(file), to)
	if !below(containers.ModelFolder(p.Model.Path), target) {
		return "is a link to " + target + ", outside of what is mounted"
	}
	return ""
}

func below(dir, file string) bool {
	rel, err := filepath.Rel(dir, file)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}
