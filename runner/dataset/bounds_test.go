package dataset

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// TestShareGPTIsStreamed reads one record of a large file: little more than that record may have been read.
func TestShareGPTIsStreamed(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "%c{\"id\":\"r%d\",\"conversations\":[{\"from\":\"human\",\"value\":%q}]}\n", "[,"[min(i, 1)], i, strings.Repeat("word ", 800))
	}
	b.WriteString("]")
	path := write(t, "big.json", b.String())
	s := open(t, Config{Kind: "sharegpt", Path: path})
	at, err := s.(*repeating).now.(*shareGPT).file.(*os.File).Seek(0, io.SeekCurrent)
	if err != nil || at > 256<<10 || b.Len() < 4<<20 {
		t.Errorf("%d of %d bytes were read for one record, %v", at, b.Len(), err)
	}
	if got := take(t, s, 2001); got[2000].ID != "r0__repeat_1" {
		t.Errorf("after the last record came %s", got[2000].ID)
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
