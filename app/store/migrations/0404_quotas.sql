-- What each plan, run and validation takes in the store, for the quota of its owner, and when it last grew, for its age.
-- A table of its own: to change a narrow row does not rewrite a body, and a row goes with the thing that it counts.
CREATE TABLE usage (
    plan_id TEXT UNIQUE REFERENCES plans (id) ON DELETE CASCADE,
    run_id TEXT UNIQUE REFERENCES runs (id) ON DELETE CASCADE,
    validation_id TEXT UNIQUE REFERENCES validations (id) ON DELETE CASCADE,
    owner TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    grown_at DOUBLE PRECISION NOT NULL
);

CREATE INDEX usage_by_owner ON usage (owner, bytes);
CREATE INDEX usage_by_age ON usage (grown_at);

-- A row to lock: of two writes of one owner the second sees what the first has added.
CREATE TABLE owners (id TEXT PRIMARY KEY);

-- Nobody knows when old rows grew last; 0 lets their age begin with this version.
INSERT INTO usage (plan_id, owner, bytes, grown_at)
    SELECT id, owner, 512 + LENGTH(request) + LENGTH(answer), 0 FROM plans;
INSERT INTO usage (run_id, owner, bytes, grown_at)
    SELECT id, owner, 512 + LENGTH(request) + (
        SELECT COALESCE(SUM(512 + LENGTH(p.request) + LENGTH(p.state) + LENGTH(p.answer)), 0)
        FROM periods p WHERE p.run_id = runs.id
    ), 0 FROM runs;
INSERT INTO usage (validation_id, owner, bytes, grown_at)
    SELECT id, owner, 512 + LENGTH(request) + LENGTH(work) + 1024 * rounds + (
        SELECT 512 * COUNT(*) FROM validation_parts p WHERE p.validation_id = validations.id
    ), 0 FROM validations;
