// Package store keeps runs, points, schedules and tokens in SQLite (modernc, WAL, foreign keys, pragmas in the DSN) and the files of
// runs beside it. It knows no HTTP and no clients.
//
// Key figures stand in columns, documents as versioned JSON, times in integer microseconds UTC. Migrations are embedded, forward
// only. To add a table: one migration file and one Go file of its noun.
package store
