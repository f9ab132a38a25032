package access

import (
	"maps"
	"os"
	"slices"
	"strings"
	"unicode"

	"assay/containers"
	"assay/fault"
	"assay/plan"
)

// Of reads what the plan only names: its token and the values of headers. getenv reads a variable of this program.
func Of(p plan.Plan, getenv func(string) string) (containers.Access, error) {
	token, err := tokenOf(p.Server, getenv)
	if err != nil {
		return containers.Access{}, err
	}
	a := containers.Access{Token: token, Headers: maps.Clone(p.Client.Headers), Insecure: p.Client.InsecureTLS}
	if a.Headers == nil {
		a.Headers = map[string]string{}
	}
	for _, header := range slices.Sorted(maps.Keys(p.Client.HeadersEnv)) {
		value, err := variable(getenv, p.Client.HeadersEnv[header], "headers_env")
		if err != nil {
			return containers.Access{}, err
		}
		a.Headers[header], a.Secrets = value, append(a.Secrets, value)
	}
	return a, nil
}

// tokenOf reads the bearer token; "" when the plan has none.
func tokenOf(s plan.Server, getenv func(string) string) (string, error) {
	switch {
	case s.TokenEnv != "":
		return variable(getenv, s.TokenEnv, "token_env")
	case s.TokenFile == "":
		return "", nil
	}
	const hint = "put the bearer token into that file, readable for the program that executes the run"
	b, err := os.ReadFile(s.TokenFile)
	if err != nil {
		return "", fault.New(fault.Preflight, "token_missing", hint, "the plan's token_file cannot be read: %w", err)
	}
	token := strings.TrimSpace(string(b))
	if token == "" || strings.ContainsFunc(token, isBlank) { // what is no token, such as another secret file, goes to no server
		return "", fault.New(fault.Preflight, "token_missing", hint, "the plan's token_file %s does not hold one word", s.TokenFile)
	}
	return token, nil
}

func isBlank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// variable reads a variable that a key of the plan names.
func variable(getenv func(string) string, name, key string) (string, error) {
	if v := strings.TrimSpace(getenv(name)); v != "" {
		return v, nil
	}
	return "", fault.New(fault.Preflight, "token_missing", "export "+name+"=… for the program that executes the run",
		"the plan's %s names %s, which is not set", key, name)
}
