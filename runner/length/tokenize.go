package length

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"time"
)

// Server is where texts are turned into tokens.
type Server struct {
	Client *http.Client
	URL    string // base URL without path: http://127.0.0.1:8000
	Header http.Header
	Model  string
}

const (
	callLimit   = time.Minute // one call of /tokenize
	answerLimit = 256 << 20   // bytes of its answer
)

// question asks under the names of all engines at once; each takes its own and ignores the others: prompt is vLLM's and SGLang's, content
// llama.cpp's, inputs TGI's.
type question struct {
	Model            string `json:"model"`
	Prompt           string `json:"prompt"`
	Content          string `json:"content"`
	Inputs           string `json:"inputs"`
	AddSpecialTokens bool   `json:"add_special_tokens"`
	AddSpecial       bool   `json:"add_special"`
}

// errNoTokenizer says that the server has no /tokenize that is understood here.
var errNoTokenizer = errors.New("the server has no /tokenize")

// tokenize gives the token ids of a text; special adds those that stand before and after each prompt.
func (s Server) tokenize(ctx context.Context, text string, special bool) ([]int32, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	body, err := json.Marshal(question{s.Model, text, text, text, special, special})
	if err != nil {
		return nil, fmt.Errorf("tokenize: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/tokenize", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("tokenize: %w", err)
	}
	maps.Copy(req.Header, s.Header)
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.Client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("tokenize: %w", err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, answerLimit))
	if err != nil {
		return nil, fmt.Errorf("tokenize: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%w: it answers %s", errNoTokenizer, resp.Status)
	}
	return parseTokens(answer)
}

// parseTokens reads {"tokens": [1, 2]}, or a list of {"id": 1}.
func parseTokens(answer []byte) ([]int32, error) {
	var object struct {
		Tokens []int32 `json:"tokens"`
	}
	if json.Unmarshal(answer, &object) == nil && object.Tokens != nil {
		return object.Tokens, nil
	}
	var list []struct {
		ID *int32 `json:"id"`
	}
	if json.Unmarshal(answer, &list) != nil {
		return nil, fmt.Errorf("%w that is understood here", errNoTokenizer)
	}
	ids := make([]int32, len(list))
	for i, t := range list {
		if t.ID == nil {
			return nil, fmt.Errorf("%w that is understood here", errNoTokenizer)
		}
		ids[i] = *t.ID
	}
	return ids, nil
}
