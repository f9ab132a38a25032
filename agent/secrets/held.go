package secrets

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"assay/redact"
	"assay/store"
)

// kindHeld is the kind of the document that names the secrets that a run's programs were given.
const kindHeld = "secrets"

// held is a secret that a run was given, for a later program that has to know whether it has the same. It is eight bits of a salted hash:
// another value is told in 255 of 256 cases, and of all guesses at the secret every 256th fits, so nobody finds it by them.
type held struct {
	Name  string `json:"name"`
	Salt  []byte `json:"salt"`
	Check byte   `json:"check"`
}

func hold(s redact.Secret) held {
	h := held{Name: s.Name, Salt: make([]byte, 16)}
	_, _ = rand.Read(h.Salt) // it never fails
	h.Check = h.of(s.Value)
	return h
}

func (h held) of(value string) byte {
	return sha256.Sum256(append(slices.Clone(h.Salt), value...))[0]
}

func (h held) is(s redact.Secret) bool { return h.Name == s.Name && h.Check == h.of(s.Value) }

// Given are the secrets that a run's programs get from this one.
type Given struct {
	Run   string
	Known []redact.Secret
}

// By hides them.
func (g Given) By() *redact.Redactor { return redact.New(g.Known...) }

// Hold writes down which secrets a run is about to give to its programs, so that its files are shown to nobody before these were taken out.
// What an earlier program gave it stays.
func Hold(ctx context.Context, st *store.Store, g Given) error {
	all, err := heldBy(ctx, st, g.Run)
	if err != nil {
		return err
	}
	before := len(all)
	for _, s := range g.Known {
		if len(s.Value) >= redact.MinLength && !slices.ContainsFunc(all, func(h held) bool { return h.is(s) }) {
			all = append(all, hold(s))
		}
	}
	if len(all) == before {
		return nil
	}
	b, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("encode the secrets of run %s: %w", g.Run, err)
	}
	return st.PutDocument(ctx, g.Run, kindHeld, b)
}

// Missing names the secrets that a run was given and whose values are not among the known ones.
func Missing(ctx context.Context, st *store.Store, run string, known []redact.Secret) ([]string, error) {
	all, err := heldBy(ctx, st, run)
	var names []string
	for _, h := range all {
		if !slices.ContainsFunc(known, h.is) {
			names = append(names, h.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

func heldBy(ctx context.Context, st *store.Store, run string) (all []held, err error) {
	b, err := st.Document(ctx, run, kindHeld)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("read the secrets of run %s: %w", run, err)
	}
	return all, nil
}
