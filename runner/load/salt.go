package load

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
)

// of gives the salt of a request as it stands inside a JSON string. The part that differs comes first, so that the first
// block of a prefix cache already differs; run and point are a digest to keep the salt at a few tokens. prompt is not 0 where several
// requests share their prompt, and with it the salt.
func (s Salt) of(index, prompt int, session string) string {
	switch {
	case s.Kind == "run" && prompt > 0:
		return digest(s.Run+"/"+s.Point+"/"+strconv.Itoa(prompt)) + " "
	case s.Kind == "run":
		return strconv.Itoa(index) + "-" + digest(s.Run+"/"+s.Point) + " "
	case s.Kind == "session":
		return digest(s.Run+"/"+s.Point+"/"+session) + " "
	case s.Kind == "text":
		return escaped(s.Text)
	}
	return ""
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

// escaped gives the inside of the JSON string of a text.
func escaped(text string) string {
	b, err := json.Marshal(text)
	if err != nil { // a string always has a JSON form
		return ""
	}
	return string(b[1 : len(b)-1])
}
