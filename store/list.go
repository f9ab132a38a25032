package store

import (
	"context"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"assay/fault"
	"assay/result"
)

// Filter narrows a list of runs; newest first.
type Filter struct {
	State  result.State // "" for all
	Limit  int          // 0: 50; at most 200
	Cursor string       // from the page before
}

// Bounds of a page of runs.
const (
	defaultLimit = 50
	maxLimit     = 200
)

// Runs gives a page of runs, newest first, and the cursor of the next page; "" on the last. Pages stay right while runs come and go.
func (s *Store) Runs(ctx context.Context, f Filter) (runs []Run, next string, err error) {
	limit := f.Limit
	if limit <= 0 {
		limit = defaultLimit
	}
	limit = min(limit, maxLimit)
	query, args := `SELECT `+runColumns+` FROM runs r WHERE 1`, []any{}
	if f.State != "" {
		query, args = query+` AND r.state = ?`, append(args, f.State)
	}
	if f.Cursor != "" {
		createdUS, id, err := readCursor(f.Cursor)
		if err != nil {
			return nil, "", err
		}
		query, args = query+` AND (r.created_us, r.id) < (?, ?)`, append(args, createdUS, id)
	}
	runs, err = s.queryRuns(ctx, query+` ORDER BY r.created_us DESC, r.id DESC LIMIT ?`, append(args, limit+1)...)
	if err != nil {
		return nil, "", s.explain(err, "list runs")
	}
	if len(runs) <= limit {
		return runs, "", nil
	}
	return runs[:limit], cursor(runs[limit-1]), nil
}

func cursor(last Run) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d,%s", last.CreatedUS, last.ID))
}

func readCursor(text string) (createdUS int64, id string, err error) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		var number string
		number, id, _ = strings.Cut(string(b), ",")
		createdUS, err = strconv.ParseInt(number, 10, 64)
	}
	if err != nil || id == "" {
		return 0, "", fault.New(fault.Store, "bad_cursor", "begin again without a cursor", "%q is no cursor of a list of runs", text)
	}
	return createdUS, id, nil
}

// candidates is how many runs a fault about an ambiguous reference names.
const candidates = 8

// FindRun gives the run that ref means: an id, an unambiguous prefix of one, or "last".
func (s *Store) FindRun(ctx context.Context, ref string) (Run, error) {
	if ref == "last" {
		return s.lastRun(ctx)
	}
	found, err := s.queryRuns(ctx, `SELECT `+runColumns+` FROM runs r WHERE substr(r.id, 1, length(?1)) = ?1
		ORDER BY r.id != ?1, r.created_us DESC, r.id DESC LIMIT ?2`, ref, candidates+1)
	if err != nil {
		return Run{}, s.explain(err, "find run %q", ref)
	}
	switch {
	case ref == "" || len(found) == 0:
		return Run{}, noRun(ref)
	case len(found) == 1 || found[0].ID == ref:
		return found[0], nil
	}
	return Run{}, fault.New(fault.Store, "ambiguous_run", "write more of the id: "+names(found),
		"%q is the beginning of more than one run", ref)
}

func names(runs []Run) string {
	more := ""
	if len(runs) > candidates {
		runs, more = runs[:candidates], ", …"
	}
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.ID
	}
	return strings.Join(ids, ", ") + more
}

func (s *Store) lastRun(ctx context.Context) (Run, error) {
	runs, _, err := s.Runs(ctx, Filter{Limit: 1})
	if err != nil {
		return Run{}, err
	}
	if len(runs) == 0 {
		return Run{}, fault.New(fault.Store, "no_run", "`assay demo` makes a first one", "there is no run in %s yet: %w", s.dir, ErrNotFound)
	}
	return runs[0], nil
}
