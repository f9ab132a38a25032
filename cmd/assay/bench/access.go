package bench

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/pflag"
)

// access is how the servers are reached: what each request carries, and how several servers share them.
type access struct {
	tokenEnv, tokenFile string
	headers, headersEnv map[string]string
	balance             string
	insecure            bool
}

func (a *access) bind(f *pflag.FlagSet) {
	f.StringVar(&a.tokenEnv, "token-env", "", "`NAME` of the environment variable that holds the bearer token")
	f.StringVar(&a.tokenFile, "token-file", "", "`FILE` that holds the bearer token")
	f.Var(pair(&a.headers, "Name: value"), "header", "one more header of each request, `'Name: value'`; may be repeated")
	f.Var(pair(&a.headersEnv, "Name: VARIABLE"), "header-env", "one more header, whose value is in a variable, `'Name: VARIABLE'`; may be repeated")
	f.StringVar(&a.balance, "balance", "", "with several URLs: round_robin or sticky (default round_robin)")
	f.BoolVar(&a.insecure, "insecure", false, "do not check the certificate of an https server")
}

// pair is a flag that may be repeated, each time with a name and a value.
func pair(into *map[string]string, form string) *flagValue {
	return &flagValue{"", "header", func(text string) error {
		name, value, found := strings.Cut(text, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case !found || name == "" || value == "":
			return errors.New("write it as '" + form + "'")
		case strings.ContainsFunc(text, unicode.IsControl):
			return errors.New("it holds a control character, such as the end of a line")
		}
		for other := range *into {
			if strings.EqualFold(other, name) {
				return errors.New("there is a " + other + " already")
			}
		}
		if *into == nil {
			*into = map[string]string{}
		}
		(*into)[name] = value
		return nil
	}}
}

// server adds the keys of a plan's server, which has so many URLs.
func (a *access) server(keys map[string]any, urls int) error {
	if a.balance != "" && urls < 2 {
		return usage("--balance says how several URLs share the requests; there is one")
	}
	if a.tokenEnv != "" {
		keys["token_env"] = a.tokenEnv
	}
	if a.tokenFile == "" {
		return nil
	}
	path, err := filepath.Abs(a.tokenFile)
	if err != nil {
		return fmt.Errorf("find the token's file: %w", err)
	}
	keys["token_file"] = path
	return nil
}

// client adds the keys of a plan's client.
func (a *access) client(keys map[string]any) {
	if len(a.headers) > 0 {
		keys["headers"] = a.headers
	}
	if len(a.headersEnv) > 0 {
		keys["headers_env"] = a.headersEnv
	}
	if a.balance != "" {
		keys["balance"] = a.balance
	}
	if a.insecure {
		keys["insecure_tls"] = true
	}
}
