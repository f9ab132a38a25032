package intake

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"assay/containers"
	"assay/result"
	"assay/runner/imported"
	"assay/store"
)

// Files lists the files of a source as they will lie in the run's folder.
func Files(found imported.Found) ([]result.Artifact, error) {
	var files []result.Artifact
	for _, name := range found.Source.Files {
		from := found.Source.Path(name)
		info, err := os.Stat(from)
		if err != nil {
			return nil, fmt.Errorf("read what is imported: %w", err)
		}
		sum, err := containers.FileSHA256(from)
		if err != nil {
			return nil, fmt.Errorf("read what is imported: %w", err)
		}
		files = append(files, result.Artifact{Path: imported.Folder + "/" + name, SHA256: sum, Bytes: info.Size()})
	}
	return files, nil
}

// Copy puts the tool's files into the run's folder as they are.
func Copy(found imported.Found, dir string) error {
	for _, name := range found.Source.Files {
		err := store.WriteStream(filepath.Join(dir, imported.Folder, filepath.FromSlash(name)), func(w io.Writer) error {
			f, err := os.Open(found.Source.Path(name))
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = io.Copy(w, f)
			return err
		})
		if err != nil {
			return fmt.Errorf("keep %s: %w", name, err)
		}
	}
	return nil
}
