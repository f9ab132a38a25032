package redact

import (
	"bytes"
	"io"
	"regexp"
	"slices"
)

// shape is what tokens of one kind look like.
type shape struct {
	kind  string
	words []string // one of them stands in each: a log is searched for them much faster than for the form
	form  *regexp.Regexp
}

func (s shape) in(b []byte) bool {
	return slices.ContainsFunc(s.words, func(word string) bool { return bytes.Contains(b, []byte(word)) }) && s.form.Match(b)
}

// shapes are the kinds of secrets that can be told by their form alone, as their makers document it.
func shapes() []shape {
	return []shape{
		{"a Hugging Face token", []string{"hf_"}, regexp.MustCompile(`\bhf_[A-Za-z0-9]{30,}`)},
		{"an API key (sk-…)", []string{"sk-"}, regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{20,}`)},
		{"a GitHub token", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}, regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{36,}|\bgithub_pat_[A-Za-z0-9_]{40,}`)},
		{"an AWS access key", []string{"AKIA", "ASIA"}, regexp.MustCompile(`\b(AKIA|ASIA)[A-Z0-9]{16}\b`)},
		{"an NVIDIA API key", []string{"nvapi-"}, regexp.MustCompile(`\bnvapi-[A-Za-z0-9_-]{40,}`)},
		{"a private key", []string{"PRIVATE KEY-----"}, regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`)},
		{"a bearer token", []string{"earer", "EARER"}, regexp.MustCompile(`(?i)\bbearer\s+[A-Za-z0-9._~+/-]{20,}=*`)},
	}
}

// longestForm is more bytes than any form needs to be told.
const longestForm = 512

// Find names the kinds of secrets that a stream seems to hold, each once. It never gives the secrets themselves.
func Find(in io.Reader) (found []string, err error) {
	left := shapes()
	err = pieces(in, longestForm, func(piece []byte) bool {
		left = slices.DeleteFunc(left, func(s shape) bool {
			in := s.in(piece)
			if in {
				found = append(found, s.kind)
			}
			return in
		})
		return len(left) > 0
	})
	return found, err
}
