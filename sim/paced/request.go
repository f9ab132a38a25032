package paced

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

const (
	mostRequest   = 64 << 20 // bytes of a request
	defaultTokens = 16
	mostTokens    = 1 << 24
)

var errRequest = errors.New("the request is none that this server reads")

// request is what a client asked for.
type request struct {
	stream bool // of a completion; anything else is answered with the list of models
	tokens int
	usage  bool
}

// body is what counts of a completion request.
type body struct {
	MaxTokens     int `json:"max_tokens"`
	MaxCompletion int `json:"max_completion_tokens"`
	Options       struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// parseRequest reads a request from what came so far. size is its length; it stays 0 until the request is whole, and need tells how
// many bytes that takes once the head is there.
func parseRequest(b []byte) (r request, size, need int, err error) {
	end := bytes.Index(b, []byte("\r\n\r\n"))
	if end < 0 {
		if len(b) > 64<<10 {
			return r, 0, 0, errRequest
		}
		return r, 0, 0, nil
	}
	end += 4
	head, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(b[:end])))
	if err != nil || head.ContentLength < 0 || head.ContentLength > mostRequest {
		return r, 0, 0, errRequest
	}
	need = end + int(head.ContentLength)
	if len(b) < need {
		return r, 0, need, nil
	}
	if !strings.HasSuffix(head.URL.Path, "completions") {
		return r, need, need, nil
	}
	var q body
	if err := json.Unmarshal(b[end:need], &q); err != nil {
		return r, 0, 0, errRequest
	}
	r = request{stream: true, tokens: max(q.MaxTokens, q.MaxCompletion), usage: q.Options.Usage}
	if r.tokens <= 0 {
		r.tokens = defaultTokens
	}
	r.tokens = min(r.tokens, mostTokens)
	return r, need, need, nil
}
