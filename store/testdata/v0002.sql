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
) STRICT;

CREATE INDEX runs_by_age ON runs (created_us, id);

CREATE INDEX runs_by_state ON runs (state, created_us, id);

CREATE INDEX schedules_by_last_run ON schedules (last_run);
INSERT INTO runs (id, name, state, verdict, reasons, error, plan, plan_sha256, source, key, points, created_us, started_us, ended_us) VALUES ('queued', 'n-queued', 'queued', '', '[]', NULL, '{"name":"x"}', 'aa', 'cli', NULL, 2, 1000, 0, 0);
INSERT INTO runs (id, name, state, verdict, reasons, error, plan, plan_sha256, source, key, points, created_us, started_us, ended_us) VALUES ('running', 'n-running', 'running', '', '[]', NULL, '{"name":"x"}', 'aa', 'cli', NULL, 2, 1000, 2000, 0);
INSERT INTO runs (id, name, state, verdict, reasons, error, plan, plan_sha256, source, key, points, created_us, started_us, ended_us) VALUES ('done', 'n-done', 'done', '', '[]', NULL, '{"name":"x"}', 'aa', 'cli', NULL, 2, 1000, 2000, 2000);
INSERT INTO runs (id, name, state, verdict, reasons, error, plan, plan_sha256, source, key, points, created_us, started_us, ended_us) VALUES ('failed', 'n-failed', 'failed', '', '[]', NULL, '{"name":"x"}', 'aa', 'cli', NULL, 2, 1000, 2000, 2000);
INSERT INTO runs (id, name, state, verdict, reasons, error, plan, plan_sha256, source, key, points, created_us, started_us, ended_us) VALUES ('interrupted', 'n-interrupted', 'interrupted', '', '[]', NULL, '{"name":"x"}', 'aa', 'cli', NULL, 2, 1000, 2000, 2000);
INSERT INTO runs (id, name, state, verdict, reasons, error, plan, plan_sha256, source, key, points, created_us, started_us, ended_us) VALUES ('canceled', 'n-canceled', 'canceled', '', '[]', NULL, '{"name":"x"}', 'aa', 'cli', NULL, 2, 1000, 2000, 2000);
INSERT INTO artifacts (run_id, path, sha256, bytes) VALUES ('queued', 'recordings/c1.rec', '3ebb153fb24e4411400e94a9a92b0ec458c3a8473e51e03cd37d4a34c99dfda6', 9);
INSERT INTO artifacts (run_id, path, sha256, bytes) VALUES ('running', 'recordings/c1.rec', '3ebb153fb24e4411400e94a9a92b0ec458c3a8473e51e03cd37d4a34c99dfda6', 9);
INSERT INTO artifacts (run_id, path, sha256, bytes) VALUES ('done', 'recordings/c1.rec', '3ebb153fb24e4411400e94a9a92b0ec458c3a8473e51e03cd37d4a34c99dfda6', 9);
INSERT INTO artifacts (run_id, path, sha256, bytes) VALUES ('failed', 'recordings/c1.rec', '3ebb153fb24e4411400e94a9a92b0ec458c3a8473e51e03cd37d4a34c99dfda6', 9);
INSERT INTO artifacts (run_id, path, sha256, bytes) VALUES ('interrupted', 'recordings/c1.rec', '3ebb153fb24e4411400e94a9a92b0ec458c3a8473e51e03cd37d4a34c99dfda6', 9);
INSERT INTO artifacts (run_id, path, sha256, bytes) VALUES ('canceled', 'recordings/c1.rec', '3ebb153fb24e4411400e94a9a92b0ec458c3a8473e51e03cd37d4a34c99dfda6', 9);
INSERT INTO documents (run_id, kind, schema, body) VALUES ('queued', 'checks', 'assay.result/v1', '[]');
INSERT INTO documents (run_id, kind, schema, body) VALUES ('running', 'checks', 'assay.result/v1', '[]');
INSERT INTO documents (run_id, kind, schema, body) VALUES ('done', 'checks', 'assay.result/v1', '[]');
INSERT INTO documents (run_id, kind, schema, body) VALUES ('failed', 'checks', 'assay.result/v1', '[]');
INSERT INTO documents (run_id, kind, schema, body) VALUES ('interrupted', 'checks', 'assay.result/v1', '[]');
INSERT INTO documents (run_id, kind, schema, body) VALUES ('canceled', 'checks', 'assay.result/v1', '[]');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (1, 0, 1, '2026-12-01 12:08:53');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (2, 1, 1, '2026-12-01 12:08:53');
INSERT INTO goose_db_version (id, version_id, is_applied, tstamp) VALUES (3, 2, 1, '2026-12-01 12:08:53');
INSERT INTO meta (id, owner) VALUES (1, '00112233445566ff');
INSERT INTO node (id, document) VALUES (1, '{"state":"dirty","marks":[{"state":"dirty","code":"memory_held","device":"0000:1b:00.0","text":"t","hint":"h","since_us":7,"run":"done","held":{"before_bytes":1073741824,"used_bytes":128849018880,"holders":[{"pid":812,"name":"python3","bytes":128849018880}]}}],"devices":[{"address":"0000:1b:00.0","vendor":"AMD","serial_hash":"00ff","vram_bytes":206158430208,"seen_us":7}],"seen_us":9,"boot_key":"b"}');
INSERT INTO phases (run_id, started_us, name, point, ended_us, error) VALUES ('queued', 1, 'pull', '', 0, NULL);
INSERT INTO phases (run_id, started_us, name, point, ended_us, error) VALUES ('running', 1, 'pull', '', 0, NULL);
INSERT INTO phases (run_id, started_us, name, point, ended_us, error) VALUES ('done', 1, 'pull', '', 0, NULL);
INSERT INTO phases (run_id, started_us, name, point, ended_us, error) VALUES ('failed', 1, 'pull', '', 0, NULL);
INSERT INTO phases (run_id, started_us, name, point, ended_us, error) VALUES ('interrupted', 1, 'pull', '', 0, NULL);
INSERT INTO phases (run_id, started_us, name, point, ended_us, error) VALUES ('canceled', 1, 'pull', '', 0, NULL);
INSERT INTO points (run_id, idx, id, state, system_tps, tps_per_user, ttft_p90_ms, schema, document) VALUES ('queued', 0, 'c1', 'valid', 1.0, 0.25, 2.0, 'assay.result/v1', '{"id":"c1","phase":"sweep","concurrency":4,"rate":null,"context":null,"state":"valid","reasons":[],"metrics":{"requests_issued":0,"requests_completed":0,"requests_failed":0,"censored":0,"outcomes":{"ok":3},"duration_s":0,"system_tps":1,"tps_per_user":0.25,"ttft_ms":{"min":0,"mean":0,"p1":0,"p5":0,"p10":0,"p25":0,"p50":0,"p75":0,"p90":2,"p95":0,"p99":0,"p999":0,"max":0,"n":3}}}');
INSERT INTO points (run_id, idx, id, state, system_tps, tps_per_user, ttft_p90_ms, schema, document) VALUES ('running', 0, 'c1', 'valid', 1.0, 0.25, 2.0, 'assay.result/v1', '{"id":"c1","phase":"sweep","concurrency":4,"rate":null,"context":null,"state":"valid","reasons":[],"metrics":{"requests_issued":0,"requests_completed":0,"requests_failed":0,"censored":0,"outcomes":{"ok":3},"duration_s":0,"system_tps":1,"tps_per_user":0.25,"ttft_ms":{"min":0,"mean":0,"p1":0,"p5":0,"p10":0,"p25":0,"p50":0,"p75":0,"p90":2,"p95":0,"p99":0,"p999":0,"max":0,"n":3}}}');
INSERT INTO points (run_id, idx, id, state, system_tps, tps_per_user, ttft_p90_ms, schema, document) VALUES ('done', 0, 'c1', 'valid', 1.0, 0.25, 2.0, 'assay.result/v1', '{"id":"c1","phase":"sweep","concurrency":4,"rate":null,"context":null,"state":"valid","reasons":[],"metrics":{"requests_issued":0,"requests_completed":0,"requests_failed":0,"censored":0,"outcomes":{"ok":3},"duration_s":0,"system_tps":1,"tps_per_user":0.25,"ttft_ms":{"min":0,"mean":0,"p1":0,"p5":0,"p10":0,"p25":0,"p50":0,"p75":0,"p90":2,"p95":0,"p99":0,"p999":0,"max":0,"n":3}}}');
INSERT INTO points (run_id, idx, id, state, system_tps, tps_per_user, ttft_p90_ms, schema, document) VALUES ('failed', 0, 'c1', 'valid', 1.0, 0.25, 2.0, 'assay.result/v1', '{"id":"c1","phase":"sweep","concurrency":4,"rate":null,"context":null,"state":"valid","reasons":[],"metrics":{"requests_issued":0,"requests_completed":0,"requests_failed":0,"censored":0,"outcomes":{"ok":3},"duration_s":0,"system_tps":1,"tps_per_user":0.25,"ttft_ms":{"min":0,"mean":0,"p1":0,"p5":0,"p10":0,"p25":0,"p50":0,"p75":0,"p90":2,"p95":0,"p99":0,"p999":0,"max":0,"n":3}}}');
INSERT INTO points (run_id, idx, id, state, system_tps, tps_per_user, ttft_p90_ms, schema, document) VALUES ('interrupted', 0, 'c1', 'valid', 1.0, 0.25, 2.0, 'assay.result/v1', '{"id":"c1","phase":"sweep","concurrency":4,"rate":null,"context":null,"state":"valid","reasons":[],"metrics":{"requests_issued":0,"requests_completed":0,"requests_failed":0,"censored":0,"outcomes":{"ok":3},"duration_s":0,"system_tps":1,"tps_per_user":0.25,"ttft_ms":{"min":0,"mean":0,"p1":0,"p5":0,"p10":0,"p25":0,"p50":0,"p75":0,"p90":2,"p95":0,"p99":0,"p999":0,"max":0,"n":3}}}');
INSERT INTO points (run_id, idx, id, state, system_tps, tps_per_user, ttft_p90_ms, schema, document) VALUES ('canceled', 0, 'c1', 'valid', 1.0, 0.25, 2.0, 'assay.result/v1', '{"id":"c1","phase":"sweep","concurrency":4,"rate":null,"context":null,"state":"valid","reasons":[],"metrics":{"requests_issued":0,"requests_completed":0,"requests_failed":0,"censored":0,"outcomes":{"ok":3},"duration_s":0,"system_tps":1,"tps_per_user":0.25,"ttft_ms":{"min":0,"mean":0,"p1":0,"p5":0,"p10":0,"p25":0,"p50":0,"p75":0,"p90":2,"p95":0,"p99":0,"p999":0,"max":0,"n":3}}}');
INSERT INTO schedules (id, name, cron, plan, enabled, created_us, last_run, last_us) VALUES ('s1', 'nightly', '0 3 * * *', '{}', 1, 0, 'done', 9);
