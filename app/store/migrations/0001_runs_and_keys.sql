-- Types that SQLite and PostgreSQL both take; times are seconds since 1970.
CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    n_devices BIGINT NOT NULL,
    sample_size BIGINT NOT NULL,
    horizon BIGINT NOT NULL,
    aggregation_period BIGINT NOT NULL,
    request BYTEA NOT NULL
);

CREATE INDEX runs_by_owner ON runs (owner, created_at, id);

CREATE TABLE periods (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    aggregation BIGINT NOT NULL,
    request_digest TEXT NOT NULL,
    request BYTEA NOT NULL,
    state TEXT NOT NULL,
    answer BYTEA NOT NULL,
    PRIMARY KEY (run_id, aggregation)
);

CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL
);
