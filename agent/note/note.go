package note

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"assay/result"
	"assay/store"
)

// Write adds texts to the notes of a run that is not being executed, each once, after those that stale tells are removed; stale may be nil.
// Nothing is written where that changes nothing.
func Write(ctx context.Context, st *store.Store, run string, texts []string, stale func(text string) bool) error {
	var identity result.Identity
	b, err := st.Document(ctx, run, store.Identity)
	if err == nil {
		err = json.Unmarshal(b, &identity)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("read the identity of run %s: %w", run, err)
	}
	before := slices.Clone(identity.Notes)
	if stale != nil {
		identity.Notes = slices.DeleteFunc(identity.Notes, stale)
	}
	for _, text := range texts {
		if !slices.Contains(identity.Notes, text) {
			identity.Notes = append(identity.Notes, text)
		}
	}
	if slices.Equal(before, identity.Notes) {
		return nil
	}
	if b, err = json.Marshal(identity); err != nil {
		return fmt.Errorf("encode the identity of run %s: %w", run, err)
	}
	return st.PutDocument(ctx, run, store.Identity, b)
}
