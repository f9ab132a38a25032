package store

import (
	"context"
	"database/sql"
	"errors"

	"assay/fault"
	"assay/result"
)

// Kinds of a run's documents.
const (
	SUTBefore = "sut_before" // probes.SUT
	SUTAfter  = "sut_after"  // probes.SUT
	Checks    = "checks"     // []probes.Check
	Identity  = "identity"   // result.Identity
	Stops     = "stops"      // []result.Stop
	GPUMemory = "gpu_memory" // result.Release
)

// PutDocument stores a JSON document of the run by its kind; one stored before is replaced. Other kinds than the named ones are fine.
func (s *Store) PutDocument(ctx context.Context, runID, kind string, json []byte) error {
	_, err := s.write.ExecContext(ctx, `INSERT INTO documents (run_id, kind, schema, body) VALUES (?, ?, ?, ?)
		ON CONFLICT (run_id, kind) DO UPDATE SET schema = excluded.schema, body = excluded.body`, runID, kind, result.Schema, string(json))
	return s.explainRun(err, runID, "store %s of run %s", kind, runID)
}

// DropDocument removes a document of a run; one that is not there is no error.
func (s *Store) DropDocument(ctx context.Context, runID, kind string) error {
	_, err := s.write.ExecContext(ctx, `DELETE FROM documents WHERE run_id = ? AND kind = ?`, runID, kind)
	return s.explain(err, "remove %s of run %s", kind, runID)
}

// DocumentsOf gives the documents of all runs whose kind begins with a prefix, which has no character above '~'.
func (s *Store) DocumentsOf(ctx context.Context, prefix string) ([][]byte, error) {
	all, err := queryAll(ctx, s.read, func(row scanner) (body []byte, err error) { return body, row.Scan(&body) },
		`SELECT body FROM documents WHERE kind >= ? AND kind < ? || char(127) ORDER BY run_id, kind`, prefix, prefix)
	return all, s.explain(err, "read %s of all runs", prefix)
}

// Document gives the run's document of a kind, or ErrNotFound.
func (s *Store) Document(ctx context.Context, runID, kind string) ([]byte, error) {
	var body []byte
	err := s.read.QueryRowContext(ctx, `SELECT body FROM documents WHERE run_id = ? AND kind = ?`, runID, kind).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fault.New(fault.Store, "no_document", "", "%s of run %s: %w", kind, runID, ErrNotFound)
	}
	return body, s.explain(err, "read %s of run %s", kind, runID)
}
