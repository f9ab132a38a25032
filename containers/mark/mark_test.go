package mark

import (
	"strings"
	"testing"
)

func FuzzParseMark(f *testing.F) {
	f.Add([]byte("A=b\x00ASSAY_OWNER=o\x00ASSAY_RUN=r\x00ASSAY_ROLE=server\x00"))
	f.Add([]byte("ASSAY_OWNER"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m := parse(b)
		if m.Owner != "" && parse([]byte(strings.Join(m.Environ(), "\x00"))) != m {
			t.Errorf("%+v does not read back", m)
		}
		if (Mark{Owner: "x"}).covers(Mark{}) || (Mark{}).covers(Mark{}) {
			t.Error("a process without mark is covered")
		}
	})
}
