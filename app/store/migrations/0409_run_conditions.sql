-- What a run needs of its request from now on, written anew when it changes, and what lists and events tell of a period.
CREATE TABLE run_conditions (
    run_id TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    conditions BYTEA NOT NULL
);

ALTER TABLE periods ADD COLUMN told TEXT;
