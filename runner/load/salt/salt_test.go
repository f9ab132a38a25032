package salt

import (
	"strings"
	"testing"

	"assay/runner/dataset"

	"github.com/google/go-cmp/cmp"
)

// TestSessionSaltIsMLPerfs: the marks are those of MLPerf Endpoints: BLAKE2b of two bytes, of the pass over the data and of the conversation.
func TestSessionSaltIsMLPerfs(t *testing.T) {
	with := []dataset.Message{{Role: "system", Content: "You fix bugs."}, {Role: "user", Content: "Run the tests"}}
	without := with[1:]
	for _, c := range []struct {
		id       string
		repeat   int
		messages []dataset.Message
		want     string
	}{
		{"sim_7", 0, with, "[salt: 795e]\n\nYou fix bugs.\n\n[salt: 465b]"},
		{"c-1__repeat_1", 1, with, "[salt: 4461]\n\nYou fix bugs.\n\n[salt: 37d9]"},
		{"c-1", 0, without, "[salt: 795e]\n\n[salt: 37d9]\n\nRun the tests"},
	} {
		conv := dataset.Conversation{ID: c.id, Repeat: c.repeat, Turns: []dataset.Turn{{Messages: c.messages}, {Messages: without}}}
		turns := Spec{Kind: "session", Run: "r", Point: "c1"}.Around(conv)
		if got := turns[0].Messages[0].Content; got != c.want || !cmp.Equal(turns[1], conv.Turns[1]) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if with[0].Content != "You fix bugs." {
		t.Error("the data itself was changed")
	}
	shared := dataset.Conversation{ID: "c-1__repeat_1", Repeat: 1, Prompt: 3, Turns: []dataset.Turn{{Messages: without}}}
	if got := (Spec{Kind: "session"}).Around(shared)[0].Messages[0].Content; got != "[salt: 795e]\n\n[salt: 37d9]\n\nRun the tests" {
		t.Errorf("a shared prompt has other marks when it comes again: %q", got)
	}
	conv := dataset.Conversation{ID: "a", Turns: []dataset.Turn{{Messages: with}}}
	for _, s := range []Spec{{Kind: "run"}, {Kind: "none"}, {Kind: "session", Pieces: []string{"a "}, Size: 3}} {
		if !cmp.Equal(s.Around(conv), conv.Turns) {
			t.Errorf("%+v changes the messages", s)
		}
	}
}

// TestSaltOfPieces: always of the same number of pieces, never the same for two requests, for two sessions or for two runs, and the same
// for those that share a prompt.
func TestSaltOfPieces(t *testing.T) {
	s := Spec{Kind: "run", Run: "r1", Point: "c1", Fixed: "first ", Size: 11}
	for _, w := range strings.Fields("ant bee cat dog eel fox gnu hen ibis jay kid lion mole newt owl pig") {
		s.Pieces = append(s.Pieces, w+" ")
	}
	seen := map[string]bool{}
	for index := range 20_000 {
		salt := s.Of(index, 0, "x")
		if len(strings.Fields(salt)) != 12 || !strings.HasPrefix(salt, "first ") || !strings.HasSuffix(salt, " ") || seen[salt] {
			t.Fatalf("%d: %q", index, salt)
		}
		seen[salt] = true
	}
	other := s
	other.Run = "r2"
	session := s
	session.Kind = "session"
	switch {
	case s.Of(0, 0, "x") != s.Of(0, 0, "y") || s.Of(0, 0, "x") == other.Of(0, 0, "x"):
		t.Error("the salt of a request is its run's and its number's")
	case session.Of(0, 0, "x") != session.Of(9, 0, "x") || session.Of(0, 0, "x") == session.Of(0, 0, "y"):
		t.Error("the salt of a session is the session's")
	case s.Of(1, 4, "x") != s.Of(2, 4, "y") || s.Of(1, 4, "x") == s.Of(1, 5, "x") || session.Of(1, 4, "x") != session.Of(2, 4, "y"):
		t.Error("the salt of a shared prompt is the prompt's")
	}
	if got := (Spec{Kind: "none", Fixed: "12,"}).Of(3, 0, "x"); got != "12," {
		t.Error(got)
	}
	if got := (Spec{Kind: "text", Text: "a\"b", Fixed: "a\"b"}).Of(3, 0, "x"); got != `a\"b` {
		t.Error(got)
	}
}
