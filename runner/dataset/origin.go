package dataset

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/fault"
)

//go:embed builtin/*.jsonl
var builtin embed.FS

// Builtin gives the bytes of data that ships with the program.
func Builtin(name string) ([]byte, error) {
	b, err := builtin.ReadFile("builtin/" + name + ".jsonl")
	if err != nil {
		return nil, fault.New(fault.Client, "dataset_missing", "the program ships with "+strings.Join(builtinNames(), ", "), "no built-in dataset %q", name)
	}
	return b, nil
}

func builtinNames() []string {
	var names []string
	entries, _ := builtin.ReadDir("builtin") // embedded, so it is there
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".jsonl"))
	}
	return names
}

// origin is where data is read from: one file, the files of a folder, or built-in bytes.
type origin struct {
	name   string
	files  []string // paths, sorted
	bytes  []byte   // when files is empty
	sha256 string
}

// originOf finds the data of cfg, hashes it, and refuses what is missing or empty.
func originOf(ctx context.Context, cfg Config, folder bool) (origin, error) {
	if cfg.Builtin != "" {
		b, err := Builtin(cfg.Builtin)
		return origin{name: "built-in " + cfg.Builtin, bytes: b, sha256: sum(b)}, err
	}
	if cfg.Path == "" {
		return origin{}, fault.New(fault.Client, "dataset_missing", "set workload.dataset.path or workload.dataset.builtin", "a workload of kind %s needs a dataset", cfg.Kind)
	}
	info, err := os.Stat(cfg.Path)
	if err != nil {
		return origin{}, unreadable(cfg.Path, err)
	}
	if info.IsDir() && !folder {
		return origin{}, fault.New(fault.Client, "dataset_folder", "name the file inside it", "dataset %s is a folder; kind %s reads one file", cfg.Path, cfg.Kind)
	}
	o := origin{name: cfg.Path, files: []string{cfg.Path}}
	if info.IsDir() {
		if o.files, err = textFiles(cfg.Path); err != nil {
			return origin{}, unreadable(cfg.Path, err)
		}
	}
	switch {
	case len(o.files) == 0:
		return origin{}, empty(o.name, "the folder has no *.txt file, and others are not read", "name the texts *.txt, or give one file and its kind")
	case info.Size() == 0:
		return origin{}, empty(o.name, "the file is empty", "give a file with data")
	}
	if cfg.Unhashed {
		return o, nil
	}
	o.sha256, err = cfg.Hashes.Of(ctx, cfg.Path)
	return o, err
}

func unreadable(path string, err error) error {
	code, hint := "dataset_unreadable", "check the file and its permissions"
	if errors.Is(err, fs.ErrNotExist) {
		code, hint = "dataset_missing", "check workload.dataset.path"
	}
	return fault.New(fault.Client, code, hint, "read dataset %s: %w", path, err)
}

func empty(name, why, hint string) error {
	return fault.New(fault.Client, "dataset_empty", hint,
		"dataset %s holds no conversation that can be used: %s", name, why)
}

// textFiles lists the regular .txt files in and below dir, sorted. Others are not read: what lies in a folder is not all meant to be sent.
func textFiles(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Type().IsRegular() && strings.EqualFold(filepath.Ext(path), ".txt") {
			files = append(files, path)
		}
		return nil
	})
	slices.Sort(files)
	return files, err
}

// open gives the data of the ith file.
func (o origin) open(i int) (io.ReadCloser, error) {
	if len(o.files) == 0 {
		return io.NopCloser(bytes.NewReader(o.bytes)), nil
	}
	f, err := os.Open(o.files[i])
	if err != nil {
		return nil, unreadable(o.files[i], err)
	}
	return f, nil
}

// sizeOf is the size of the ith file in bytes; 0 when it is not known.
func (o origin) sizeOf(i int) int64 {
	if len(o.files) == 0 {
		return int64(len(o.bytes))
	}
	info, err := os.Stat(o.files[i])
	if err != nil {
		return 0
	}
	return info.Size()
}

// count is the number of files.
func (o origin) count() int { return max(1, len(o.files)) }
