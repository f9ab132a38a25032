package runner

import (
	"os"
	"path/filepath"

	"assay/runner/load"
)

// keepFirst writes the body of the first measured request into the run's folder, exactly as it was sent, and gives its name there; "" when
// none was. Secrets are in headers, never in a body.
func keepFirst(job Job, res load.Result) (string, error) {
	if res.First == nil {
		return "", nil
	}
	name := filepath.Join(Folder, job.Point.ID+".request.json")
	return filepath.ToSlash(name), unwritten(writeWhole(filepath.Join(job.Dir, name), res.First))
}

// writeWhole writes a file under its name only when all of it is on disk.
func writeWhole(path string, data []byte) error {
	f, err := os.Create(path + ".part")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}
