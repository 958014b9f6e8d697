-- Numbers that only grow, over all workers and servers: rows go when they are too old, these stay. They are spread over
-- a few rows, so that workers do not wait for each other; a scrape adds them up.
CREATE TABLE totals (
    shard BIGINT PRIMARY KEY,
    rounds BIGINT NOT NULL DEFAULT 0,
    round_seconds DOUBLE PRECISION NOT NULL DEFAULT 0,
    attempts_failed BIGINT NOT NULL DEFAULT 0,
    attempts_lost BIGINT NOT NULL DEFAULT 0,
    succeeded BIGINT NOT NULL DEFAULT 0,
    failed BIGINT NOT NULL DEFAULT 0,
    cancelled BIGINT NOT NULL DEFAULT 0
);

-- The request that asked for a validation, and its span: workers go on with its trace and name it in their logs.
ALTER TABLE validations ADD COLUMN request_id TEXT NOT NULL DEFAULT '';
ALTER TABLE validations ADD COLUMN traceparent TEXT NOT NULL DEFAULT '';
