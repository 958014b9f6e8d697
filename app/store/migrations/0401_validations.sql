-- Validations and their parts (one scheme, seed and draw each), the rounds done, events for followers, workers.
CREATE TABLE validations (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    idempotency_key TEXT,
    digest TEXT NOT NULL,
    state TEXT NOT NULL,
    cancelled BIGINT NOT NULL,
    rounds BIGINT NOT NULL,
    rounds_done BIGINT NOT NULL,
    last_event BIGINT NOT NULL,
    started_at DOUBLE PRECISION,
    finished_at DOUBLE PRECISION,
    failure TEXT,
    request BYTEA NOT NULL,
    work BYTEA NOT NULL
);

-- Rows without a key do not collide: NULL differs from NULL.
CREATE UNIQUE INDEX validations_by_key ON validations (owner, idempotency_key);
CREATE INDEX validations_by_owner ON validations (owner, created_at, id);
CREATE INDEX validations_by_state ON validations (state, owner);

CREATE TABLE validation_parts (
    id TEXT PRIMARY KEY,
    validation_id TEXT NOT NULL REFERENCES validations (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    scheme TEXT NOT NULL,
    seed BIGINT NOT NULL,
    draw BIGINT NOT NULL,
    rounds BIGINT NOT NULL,
    state TEXT NOT NULL,
    attempt BIGINT NOT NULL,
    leased_until DOUBLE PRECISION NOT NULL,
    worker TEXT,
    next_round BIGINT NOT NULL,
    checkpoint BYTEA,
    facts TEXT NOT NULL,
    ended_at DOUBLE PRECISION,
    forgotten BIGINT NOT NULL
);

CREATE INDEX parts_by_validation ON validation_parts (validation_id, number);
CREATE INDEX parts_by_state ON validation_parts (state, number);
CREATE INDEX parts_to_forget ON validation_parts (forgotten, ended_at);

CREATE TABLE validation_rounds (
    part_id TEXT NOT NULL REFERENCES validation_parts (id) ON DELETE CASCADE,
    aggregation BIGINT NOT NULL,
    seconds DOUBLE PRECISION NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (part_id, aggregation)
);

-- Written before a round is trained and never changed: what was trained twice is seen here.
CREATE TABLE validation_attempts (
    part_id TEXT NOT NULL REFERENCES validation_parts (id) ON DELETE CASCADE,
    aggregation BIGINT NOT NULL,
    worker TEXT NOT NULL,
    begun_at DOUBLE PRECISION NOT NULL
);

CREATE INDEX attempts_by_part ON validation_attempts (part_id, aggregation);

CREATE TABLE validation_events (
    validation_id TEXT NOT NULL REFERENCES validations (id) ON DELETE CASCADE,
    number BIGINT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (validation_id, number)
);

CREATE TABLE workers (
    id TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    pid BIGINT NOT NULL,
    started_at DOUBLE PRECISION NOT NULL,
    seen_at DOUBLE PRECISION NOT NULL
);

-- Plans that their callers asked to keep.
CREATE TABLE plans (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    request BYTEA NOT NULL,
    answer BYTEA NOT NULL
);

CREATE INDEX plans_by_owner ON plans (owner, created_at, id);
