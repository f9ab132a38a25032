package files

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// scanned is how much of a file is looked through for secrets: tools write their configuration, not their requests, with them.
const scanned = 4 << 20

// Secrets says where files hold what looks like a key or a token, for they are kept and packed as they are.
func (s Source) Secrets() ([]string, error) {
	sign := regexp.MustCompile(`(?i)["']?(api_?key|authorization|hf_token|access_token)["']?\s*:\s*["']?([^\s"',}]{6,}[^"',}\n]*)`)
	var out []string
	for _, name := range s.Files {
		err := s.Read(name, MaxStream, func(in io.Reader) error {
			b, err := io.ReadAll(io.LimitReader(in, scanned))
			var names []string
			for _, m := range sign.FindAllSubmatch(b, -1) {
				if !hidden(string(m[2])) {
					names = append(names, strings.ToLower(string(m[1])))
				}
			}
			slices.Sort(names)
			for _, n := range slices.Compact(names) {
				out = append(out, fmt.Sprintf("%s holds what looks like a secret (%s): it lies in the run's folder and in its archive", name, n))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// hidden tells a value that the tool itself took out.
func hidden(value string) bool {
	low := strings.ToLower(value)
	return strings.Contains(low, "redacted") || strings.HasPrefix(value, "<") || strings.Trim(value, "*") == "" || low == "null"
}
