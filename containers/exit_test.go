package containers

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLastWords(t *testing.T) {
	for log, want := range map[string]string{
		"":                    "it wrote nothing",
		"up\n\nall is lost\n": `its last line was "all is lost"`,
		"Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\nTimeoutError: 1/2 signals received\nsys:1: DeprecationWarning: builtin type\n": `it said "TimeoutError: 1/2 signals received"`,
		"json.decoder.JSONDecodeError: first\nzmq.error.ZMQError: Address already in use\n  warnings.warn('leaked')\n":                                            `it said "zmq.error.ZMQError: Address already in use"`,
		"a RuntimeError: in a sentence\nlast\n": `its last line was "last"`,
	} {
		name := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(name, []byte(log), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := lastWords(f); got != want {
			t.Errorf("%q: %s, want %s", log, got, want)
		}
		f.Close()
	}
}
