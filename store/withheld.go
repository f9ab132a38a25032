package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// KindWithheld is the kind of the document that says what of a run is shown to nobody; a run without one shows all its files.
const KindWithheld = "withheld"

// Withheld are files of an ended run that may hold secrets, whose values were not at hand when they would have been taken out.
type Withheld struct {
	Run   string   `json:"run"`
	Names []string `json:"names"` // of the secrets
	Files []string `json:"files"` // below the run's folder
}

// Withhold writes down what of a run is withheld from now on; without files that is nothing.
func (s *Store) Withhold(ctx context.Context, w Withheld) error {
	if len(w.Files) == 0 {
		return s.DropDocument(ctx, w.Run, KindWithheld)
	}
	b, err := json.Marshal(w)
	if err != nil {
		return fmt.Errorf("encode what is withheld of run %s: %w", w.Run, err)
	}
	return s.PutDocument(ctx, w.Run, KindWithheld, b)
}

// Withheld says what of a run is withheld.
func (s *Store) Withheld(ctx context.Context, runID string) (w Withheld, err error) {
	b, err := s.Document(ctx, runID, KindWithheld)
	if errors.Is(err, ErrNotFound) {
		return Withheld{Run: runID}, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &w)
	}
	if err != nil {
		return w, fmt.Errorf("read what is withheld of run %s: %w", runID, err)
	}
	return w, nil
}

// AllWithheld says of every run of which something is withheld what that is.
func (s *Store) AllWithheld(ctx context.Context) ([]Withheld, error) {
	bodies, err := s.DocumentsOf(ctx, KindWithheld)
	if err != nil {
		return nil, err
	}
	var all []Withheld
	for _, b := range bodies {
		var w Withheld
		if err := json.Unmarshal(b, &w); err != nil {
			return nil, fmt.Errorf("read what is withheld: %w", err)
		}
		all = append(all, w)
	}
	return all, nil
}
