package weights

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"assay/fault"
	"assay/plan"
)

// ManifestFile is the file of a run's folder that keeps the digests of the model's files, in the form of sha256sum.
const ManifestFile = "model.sha256"

// Digest hashes the model where the plan wants it hashed or names its digest, and gives the digest, "" when nothing was hashed. The digests of the
// files are kept in the run's folder dir; those of files that do not change are remembered in the file known. A model of another digest is refused.
func Digest(ctx context.Context, p plan.Plan, dir, known string, progress func(done, total int64)) (string, error) {
	want := p.Model.SHA256
	if p.Server.Runtime == "endpoint" && want == "" || p.Model.Path == "" || !p.Model.Hash && want == "" {
		return "", nil
	}
	k := ReadKnown(known)
	m, err := Hash(ctx, p.Model.Path, k, progress)
	if err != nil {
		return "", errors.Join(fmt.Errorf("hash the model: %w", err), k.Write())
	}
	if err := errors.Join(k.Write(), os.WriteFile(filepath.Join(dir, ManifestFile), m.Lines, 0o644)); err != nil {
		return "", fmt.Errorf("keep the digests of the model: %w", err)
	}
	if want != "" && m.SHA256 != want {
		return "", fault.New(fault.Preflight, "model_differs", "compare "+ManifestFile+" of the run's folder with that of the run that the digest is of: its lines are the files'",
			"the model in %s has SHA-256 %s, the plan wants %s", p.Model.Path, m.SHA256, want)
	}
	return m.SHA256, nil
}
