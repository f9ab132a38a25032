package weights

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// Known are digests of files that were hashed before. A file counts as the same while its path, size, time of change and inode are; whoever can
// set those can have forged it, so that what is to convince others is hashed on a machine of one's own.
type Known struct {
	file string
	mu   sync.Mutex
	sums map[string]entry
}

// entry is one file; times in nanoseconds since 1970.
type entry struct {
	Size   int64  `json:"size"`
	ModNS  int64  `json:"mod_ns"`
	ChgNS  int64  `json:"chg_ns"`
	Inode  uint64 `json:"inode"`
	SHA256 string `json:"sha256"`
}

// ReadKnown reads what was remembered in a file; a missing or unreadable one remembers nothing.
func ReadKnown(file string) *Known {
	k := &Known{file: file, sums: map[string]entry{}}
	b, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(b, &k.sums) != nil || k.sums == nil {
		k.sums = map[string]entry{}
	}
	return k
}

// Write remembers what was added. Files that are not there any more are forgotten.
func (k *Known) Write() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for name := range k.sums {
		if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
			delete(k.sums, name)
		}
	}
	b, err := json.Marshal(k.sums)
	if err != nil {
		return err
	}
	part := k.file + ".part"
	if err := errors.Join(os.MkdirAll(filepath.Dir(k.file), 0o755), os.WriteFile(part, b, 0o600), os.Rename(part, k.file)); err != nil {
		return fmt.Errorf("remember the digests of the model: %w", err)
	}
	return nil
}

func entryOf(info os.FileInfo) (e entry, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return e, false
	}
	return entry{Size: info.Size(), ModNS: info.ModTime().UnixNano(), ChgNS: st.Ctim.Nano(), Inode: st.Ino}, true
}

func (k *Known) find(file string, info os.FileInfo) (string, bool) {
	now, ok := entryOf(info)
	if k == nil || !ok {
		return "", false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	was, known := k.sums[file]
	now.SHA256 = was.SHA256
	return was.SHA256, known && was == now
}

func (k *Known) add(file string, info os.FileInfo, sum string) {
	now, ok := entryOf(info)
	if k == nil || !ok {
		return
	}
	now.SHA256 = sum
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sums[file] = now
}
