// Package store keeps runs, points and schedules in SQLite (modernc, WAL, foreign keys, pragmas in the DSN) and the files of
// runs beside it. It knows no HTTP and no clients.
//
// A data directory holds assay.db and runs/<id>/. Key figures stand in columns, documents as versioned JSON, times in integer
// microseconds UTC. One connection writes, a few read; several programs may open the same directory. Errors a person can act
// on (disk full, read-only, not a database, a newer database, a run that is not there) are faults of layer store; callers
// branch on ErrNotFound, ErrConflict and ErrExists.
//
// Migrations are embedded, forward only. To add a table: one migration file and one Go file of its noun; a released
// migration never changes (testdata/migrations.sum), and every released version is upgraded in a test (testdata/v*.sql).
package store
