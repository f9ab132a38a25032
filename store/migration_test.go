package store

import (
	"crypto/sha256"
	"database/sql"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/result"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares text with a file of testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		writeFile(t, path, got)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (make it with -update)", err)
	}
	equal(t, path, got, string(want))
}

func TestSchemaGolden(t *testing.T) { golden(t, "schema.golden.sql", schemaOf(t, openStore(t))) }

// A released migration never changes: databases that ran it would differ from new ones.
func TestMigrationsNeverChange(t *testing.T) {
	var sums strings.Builder
	for _, path := range migrationFiles(t) {
		b, err := migrations.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(b), filepath.Base(path))
	}
	golden(t, "migrations.sum", sums.String())
}

func TestMigrationsAreForwardOnly(t *testing.T) {
	for i, path := range migrationFiles(t) {
		b, _ := migrations.ReadFile(path)
		if strings.Contains(string(b), "+goose Down") {
			t.Errorf("%s has a way down", path)
		}
		if want := fmt.Sprintf("migrations/%04d_", i+1); !strings.HasPrefix(path, want) {
			t.Errorf("%s: want a name that begins with %s", path, want)
		}
	}
}

func migrationFiles(t *testing.T) []string {
	t.Helper()
	paths, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil || len(paths) == 0 {
		t.Fatal("no migrations", err)
	}
	return paths
}

// Every released version's database, as a dump, becomes today's: same schema, same content, same owner.
func TestUpgradeFromEveryVersion(t *testing.T) {
	fresh := openStore(t)
	fillAll(t, fresh)
	newest := fmt.Sprintf("v%04d.sql", len(migrationFiles(t)))
	if *update && !exists(filepath.Join("testdata", newest)) {
		writeFile(t, filepath.Join("testdata", newest), dump(t, fresh))
	}
	dumps, _ := filepath.Glob("testdata/v*.sql")
	if len(dumps) != len(migrationFiles(t)) {
		t.Fatalf("%d dumps of %d versions: make the newest one's with -update", len(dumps), len(migrationFiles(t)))
	}
	for _, path := range dumps {
		t.Run(filepath.Base(path), func(t *testing.T) {
			old := openStoreIn(t, restore(t, path))
			equal(t, "schema", schemaOf(t, old), schemaOf(t, fresh))
			equal(t, "content", contentOf(t, old), contentOf(t, fresh))
			if again := openStoreIn(t, old.Dir()); contentOf(t, again).Owner != contentOf(t, old).Owner {
				t.Error("the owner changed")
			}
		})
	}
}

// fillAll gives a store something in every table.
func fillAll(t *testing.T, s *Store) {
	t.Helper()
	for _, state := range []result.State{result.Queued, result.Running, result.Done, result.Failed, result.Interrupted, result.Canceled} {
		fillRun(t, s, string(state), state)
	}
	c := Schedule{ID: "s1", Name: "nightly", Cron: "0 3 * * *", Plan: []byte("{}"), Enabled: true, LastRun: "done", LastUS: 9}
	if err := s.CreateSchedule(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := s.PutNode(t.Context(), dirtyNode()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.write.Exec(`UPDATE meta SET owner = '00112233445566ff'`); err != nil {
		t.Fatal(err)
	}
}

type content struct {
	Owner     string
	Runs      []Run
	Points    [][]result.Point
	Phases    [][]result.Phase
	Checks    []string
	Artifacts [][]result.Artifact
	Schedules []Schedule
}

// contentOf reads all that a store tells.
func contentOf(t *testing.T, s *Store) (c content) {
	t.Helper()
	fail := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	var err error
	c.Owner, err = s.Owner(t.Context())
	fail(err)
	c.Runs, _, err = s.Runs(t.Context(), Filter{})
	fail(err)
	for _, r := range c.Runs {
		points, err := s.Points(t.Context(), r.ID)
		fail(err)
		phases, err := s.Phases(t.Context(), r.ID)
		fail(err)
		artifacts, err := s.Artifacts(t.Context(), r.ID)
		fail(err)
		checks, err := s.Document(t.Context(), r.ID, Checks)
		fail(err)
		c.Points, c.Phases = append(c.Points, points), append(c.Phases, phases)
		c.Artifacts, c.Checks = append(c.Artifacts, artifacts), append(c.Checks, string(checks))
	}
	c.Schedules, err = s.Schedules(t.Context())
	fail(err)
	return c
}

func schemaOf(t *testing.T, s *Store) string {
	t.Helper()
	return strings.Join(column(t, s, `SELECT sql || ';' FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type DESC, name`), "\n\n") + "\n"
}

func column(t *testing.T, s *Store, query string) []string {
	t.Helper()
	all, err := queryAll(t.Context(), s.read, func(row scanner) (v string, err error) { return v, row.Scan(&v) }, query)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// dump writes a store's database as SQL; parents come before children.
func dump(t *testing.T, s *Store) string {
	t.Helper()
	out := schemaOf(t, s)
	for _, table := range column(t, s, `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name != 'runs', name`) {
		columns := column(t, s, `SELECT name FROM pragma_table_info('`+table+`')`)
		rows := column(t, s, `SELECT quote(`+strings.Join(columns, `) || ', ' || quote(`)+`) FROM `+table+` ORDER BY rowid`)
		for _, row := range rows {
			out += fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s);\n", table, strings.Join(columns, ", "), row)
		}
	}
	return out
}

// restore makes a data directory from a dump.
func restore(t *testing.T, path string) (dir string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, DatabaseName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(string(text)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}
