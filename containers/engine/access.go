package engine

import (
	"net/http"

	"assay/fault"
)

// Access is how servers are asked so that they answer: what each request carries, with the secrets that a plan names only.
type Access struct {
	Token    string            // bearer token; "" when none
	Headers  map[string]string // more headers
	Secrets  []string          // is hidden in what the servers say, beside Token
	Insecure bool              // their certificates are not checked
}

// Sign puts the headers into a request.
func (a Access) Sign(h http.Header) {
	if a.Token != "" {
		h.Set("Authorization", "Bearer "+a.Token)
	}
	for name, value := range a.Headers {
		h.Set(name, value)
	}
}

// Hide takes the secrets out of a text of a server.
func (a Access) Hide(text string) string {
	for _, secret := range append([]string{a.Token}, a.Secrets...) {
		text = fault.Hide(text, secret)
	}
	return text
}

// HideIn takes the secrets out of a name that a server gave. What is shorter than a secret may be a name by chance.
func (a Access) HideIn(name string) string {
	for _, secret := range append([]string{a.Token}, a.Secrets...) {
		if len(secret) >= 8 {
			name = fault.Hide(name, secret)
		}
	}
	return name
}
