package dataset

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestLargeFileIsStreamed reads a file of 100 MB through: no more than the window and a few records of it are ever held.
func TestLargeFileIsStreamed(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100 MB")
	}
	const records, size, limit = 1600, 64 << 10, 64 << 20
	path := filepath.Join(t.TempDir(), "big.json")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriter(file)
	text := strings.Repeat("word ", size/5)
	for i := range records {
		fmt.Fprintf(out, "%c{\"id\":\"r%d\",\"conversations\":[{\"from\":\"human\",\"value\":\"%s\"}]}\n", "[,"[min(i, 1)], i, text)
	}
	fmt.Fprint(out, "]")
	if err := errors.Join(out.Flush(), file.Close()); err != nil {
		t.Fatal(err)
	}
	s := open(t, Config{Kind: "sharegpt", Path: path})
	var most uint64
	seen := map[string]bool{}
	for i := range records {
		c := take(t, s, 1)[0]
		seen[c.ID] = true
		if i%200 == 0 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
	if most > limit || len(seen) != records || s.Stats().Repeats != 0 {
		t.Errorf("%d bytes were held, %d of %d records came", most, len(seen), records)
	}
}

func TestLongLine(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	fine := fmt.Sprintf(`{"prompt":%q}`, long)
	path := write(t, "long.jsonl", strings.Repeat(long, 17)+"\n"+fine+"\n"+strings.Repeat(long, 17))
	s := open(t, Config{Kind: "jsonl", Path: path})
	if c := take(t, s, 1)[0]; c.ID != "line-2" || len(c.Turns[0].Messages[0].Content) != 1<<20 {
		t.Errorf("%s of %d bytes", c.ID, len(c.Turns[0].Messages[0].Content))
	}
	take(t, s, 1)
	if st := s.Stats(); st.BadLines != 2 || st.BadFirst[0] != "line 1: longer than 16 MiB" {
		t.Errorf("%+v", st)
	}
}
