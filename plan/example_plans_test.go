package plan

import (
	"bytes"
	"errors"
	"testing"

	"assay/fault"
)

func TestExamples(t *testing.T) {
	for _, name := range Examples() {
		b, err := Example(name)
		if err != nil {
			t.Fatal(err)
		}
		p := mustParse(t, string(b))
		if keyOfProtocol(p) != name {
			t.Errorf("the example of %s is one of %s", name, keyOfProtocol(p))
		}
		if !bytes.HasPrefix(b, []byte("# ")) {
			t.Errorf("the example of %s does not say what it is", name)
		}
		if bytes.Contains(b, []byte("@sha256:")) && !bytes.Contains(b, []byte("made up")) {
			t.Errorf("the example of %s does not say that its digests are made up", name)
		}
	}
	_, err := Example("swep")
	var f *fault.Fault
	if !errors.As(err, &f) || f.Text != `no example of protocol "swep"; did you mean "sweep"?` {
		t.Errorf("got %v", err)
	}
}

func keyOfProtocol(p Plan) string {
	switch {
	case p.Protocol.Sweep != nil:
		return "sweep"
	case p.Protocol.Serve != nil:
		return "serve"
	}
	return "matrix"
}
