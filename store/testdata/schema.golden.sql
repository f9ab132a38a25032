CREATE TABLE artifacts (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    path   TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    bytes  INTEGER NOT NULL,
    PRIMARY KEY (run_id, path)
) STRICT;

CREATE TABLE documents (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    kind   TEXT NOT NULL,
    schema TEXT NOT NULL,
    body   TEXT NOT NULL CHECK (json_valid(body)),
    PRIMARY KEY (run_id, kind)
) STRICT;

CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);

CREATE TABLE meta (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    owner TEXT NOT NULL
) STRICT;

CREATE TABLE node (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    document TEXT NOT NULL CHECK (json_valid(document))
) STRICT;

CREATE TABLE phases (
    run_id     TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    started_us INTEGER NOT NULL,
    name       TEXT NOT NULL,
    point      TEXT NOT NULL,
    ended_us   INTEGER NOT NULL,
    error      TEXT CHECK (json_valid(error)),
    PRIMARY KEY (run_id, started_us, name, point)
) STRICT;

CREATE TABLE points (
    run_id       TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    idx          INTEGER NOT NULL,
    id           TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('valid', 'not_valid', 'requests_queued', 'over_capacity', 'skipped', 'failed')),
    system_tps   REAL,
    tps_per_user REAL,
    ttft_p90_ms  REAL,
    schema       TEXT NOT NULL,
    document     TEXT NOT NULL CHECK (json_valid(document)),
    PRIMARY KEY (run_id, idx),
    UNIQUE (run_id, id)
) STRICT;

CREATE TABLE runs (
    id          TEXT PRIMARY KEY,
    name        TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'interrupted', 'canceled')),
    verdict     TEXT NOT NULL CHECK (verdict IN ('', 'valid', 'not_valid')),
    reasons     TEXT NOT NULL CHECK (json_valid(reasons)),
    error       TEXT CHECK (json_valid(error)),
    plan        TEXT NOT NULL,
    plan_sha256 TEXT NOT NULL,
    source      TEXT NOT NULL,
    key         TEXT UNIQUE,
    points      INTEGER NOT NULL,
    created_us  INTEGER NOT NULL,
    started_us  INTEGER NOT NULL,
    ended_us    INTEGER NOT NULL
) STRICT;

CREATE TABLE schedules (
    id          TEXT PRIMARY KEY,
    name        TEXT NOT NULL,
    cron        TEXT NOT NULL,
    plan        TEXT NOT NULL,
    enabled     INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    created_us  INTEGER NOT NULL,
    last_run    TEXT REFERENCES runs (id) ON DELETE SET NULL,
    last_us     INTEGER NOT NULL
, guest INTEGER NOT NULL DEFAULT 0 CHECK (guest IN (0, 1))) STRICT;

CREATE INDEX runs_by_age ON runs (created_us, id);

CREATE INDEX runs_by_state ON runs (state, created_us, id);

CREATE INDEX schedules_by_last_run ON schedules (last_run);
