package files

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestPlainNumbers: what Python writes for no number becomes null, outside of texts alone and wherever reads begin and end.
func TestPlainNumbers(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": NaN, "b": -Infinity, "c": Infinity}`: `{"a": null, "b": null, "c": null}`,
		`{"NaN": "Infinity \" NaN", "x": -1.5}`:     `{"NaN": "Infinity \" NaN", "x": -1.5}`,
		`{"a\\": NaN}`:                              `{"a\\": null}`,
		`[Na`:                                       `[Na`,
		`[NaN`:                                      `[null`,
		"":                                          "",
	} {
		for name, r := range map[string]io.Reader{"whole": plainNumbers(strings.NewReader(in)), "by halves": iotest.HalfReader(plainNumbers(strings.NewReader(in))),
			"byte by byte": iotest.OneByteReader(plainNumbers(iotest.OneByteReader(strings.NewReader(in))))} {
			got, err := io.ReadAll(r)
			if err != nil || string(got) != want {
				t.Errorf("%s, %s: %q, %v; want %q", in, name, got, err, want)
			}
		}
	}
	long := strings.Repeat(`[NaN,"NaN"],`, 40_000)
	if err := iotest.TestReader(plainNumbers(strings.NewReader(long)), []byte(strings.ReplaceAll(long, "[NaN", "[null"))); err != nil {
		t.Error(err)
	}
}
