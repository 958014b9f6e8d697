-- What is known of everything that is kept: one table for plans, runs and validations, so that names, labels and
-- idempotency keys work alike for all of them. A row goes with the thing that it is about.
CREATE TABLE about (
    plan_id TEXT UNIQUE REFERENCES plans (id) ON DELETE CASCADE,
    run_id TEXT UNIQUE REFERENCES runs (id) ON DELETE CASCADE,
    validation_id TEXT UNIQUE REFERENCES validations (id) ON DELETE CASCADE,
    owner TEXT NOT NULL,
    idempotency_key TEXT,
    digest TEXT NOT NULL,
    name TEXT NOT NULL DEFAULT '',
    labels TEXT NOT NULL DEFAULT '',
    asked TEXT NOT NULL DEFAULT '{}'
);

-- Rows without a key do not collide: NULL differs from NULL.
CREATE UNIQUE INDEX about_by_key ON about (owner, idempotency_key);
CREATE INDEX about_by_name ON about (owner, name);

INSERT INTO about (plan_id, owner, digest) SELECT id, owner, '' FROM plans;
INSERT INTO about (run_id, owner, digest) SELECT id, owner, '' FROM runs;
INSERT INTO about (validation_id, owner, idempotency_key, digest)
    SELECT id, owner, idempotency_key, digest FROM validations;
DROP INDEX validations_by_key;
ALTER TABLE validations DROP COLUMN idempotency_key;
ALTER TABLE validations DROP COLUMN digest;

-- When something last happened to it. Nobody knows when old periods were answered.
ALTER TABLE validations ADD COLUMN updated_at DOUBLE PRECISION;
UPDATE validations SET updated_at = COALESCE(finished_at, started_at, created_at);
ALTER TABLE periods ADD COLUMN created_at DOUBLE PRECISION;
