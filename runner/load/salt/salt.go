package salt

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"assay/runner/dataset"

	"golang.org/x/crypto/blake2b"
)

// Spec says what stands before each prompt so that no prefix cache knows it.
type Spec struct {
	Kind  string // run | session | none | text
	Text  string // of kind text
	Run   string
	Point string

	Pieces []string // salts of kind run and session are made of these, each with what parts it from the next; nil: see Of and Around
	Size   int      // pieces of a salt
	Fixed  string   // stands before the pieces of each salt, or in place of a salt
}

// Of gives the salt of a request as it stands inside a JSON string, or a list of token ids. The part that differs comes first, so that the
// first block of a prefix cache already differs. prompt is not 0 where several requests share their prompt, and with it the salt.
func (s Spec) Of(index, prompt int, session string) string {
	switch {
	case len(s.Pieces) > 0:
		return Escaped(s.Fixed + s.made(index, prompt, session))
	case s.Fixed != "":
		return Escaped(s.Fixed)
	case s.Kind == "run" && prompt > 0:
		return digest(s.Run+"/"+s.Point+"/"+strconv.Itoa(prompt)) + " "
	case s.Kind == "run":
		return strconv.Itoa(index) + "-" + digest(s.Run+"/"+s.Point) + " "
	case s.Kind == "text":
		return Escaped(s.Text)
	}
	return ""
}

// made puts a salt of pieces together, so many that no two are the same.
func (s Spec) made(index, prompt int, session string) string {
	key := session
	switch {
	case prompt > 0:
		key = "prompt " + strconv.Itoa(prompt)
	case s.Kind == "run":
		key = strconv.Itoa(index)
	}
	var b strings.Builder
	sum := sha256.Sum256([]byte(s.Run + "/" + s.Point + "/" + key))
	for i := range s.Size {
		if i%8 == 0 && i > 0 {
			sum = sha256.Sum256(sum[:])
		}
		b.WriteString(s.Pieces[int(binary.BigEndian.Uint32(sum[i%8*4:])%uint32(len(s.Pieces)))])
	}
	return b.String()
}

// Around puts the session salt of MLPerf Endpoints around a conversation's first system message: a mark of the pass over the data before
// it, one of the conversation behind it, so that conversations of a pass share the system prompt and nothing else. Where there is no system
// message both marks stand before the first message. A salt that is made of pieces stands before the prompt instead.
func (s Spec) Around(c dataset.Conversation) []dataset.Turn {
	if s.Kind != "session" || len(s.Pieces) > 0 || len(c.Turns) == 0 || len(c.Turns[0].Messages) == 0 {
		return c.Turns
	}
	source, repeat := strings.TrimSuffix(c.ID, "__repeat_"+strconv.Itoa(c.Repeat)), c.Repeat
	if c.Prompt > 0 {
		repeat = 0 // a shared prompt keeps its marks
	}
	pass, talk := mark(strconv.Itoa(repeat)), mark(source)
	turns := slices.Clone(c.Turns)
	turns[0].Messages = slices.Clone(turns[0].Messages)
	at := slices.IndexFunc(turns[0].Messages, func(m dataset.Message) bool { return m.Role == "system" })
	if at < 0 {
		first := &turns[0].Messages[0]
		first.Content = pass + "\n\n" + talk + "\n\n" + first.Content
		return turns
	}
	system := &turns[0].Messages[at]
	system.Content = pass + "\n\n" + system.Content + "\n\n" + talk
	return turns
}

// mark is four hex digits that follow from a text, as MLPerf Endpoints has them.
func mark(text string) string {
	h, err := blake2b.New(2, nil)
	if err != nil { // two bytes are a size it has
		return ""
	}
	_, _ = h.Write([]byte(text)) // never fails
	return "[salt: " + hex.EncodeToString(h.Sum(nil)) + "]"
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// Escaped gives the inside of the JSON string of a text.
func Escaped(text string) string {
	b, err := json.Marshal(text)
	if err != nil { // a string always has a JSON form
		return ""
	}
	return string(b[1 : len(b)-1])
}
