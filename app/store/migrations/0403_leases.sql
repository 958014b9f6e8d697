-- One table of leases instead of a queue library: a running part names its worker and carries a token that every claim
-- raises. Attempts tell why they ended. A worker counts its heartbeats, so that nobody compares clocks.
DROP INDEX parts_to_forget;
DROP INDEX parts_by_state;
ALTER TABLE validation_parts DROP COLUMN attempt;
ALTER TABLE validation_parts DROP COLUMN leased_until;
ALTER TABLE validation_parts DROP COLUMN forgotten;
ALTER TABLE validation_parts ADD COLUMN token BIGINT NOT NULL DEFAULT 0;
ALTER TABLE validation_parts ADD COLUMN created_at DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE validation_attempts ADD COLUMN why TEXT;
ALTER TABLE workers DROP COLUMN seen_at;
ALTER TABLE workers ADD COLUMN beats BIGINT NOT NULL DEFAULT 0;

-- Parts that are open wait for a worker of this release; one of an earlier release finds that it was struck off.
DELETE FROM workers;
UPDATE validation_parts SET state = 'waiting', worker = NULL WHERE state IN ('waiting', 'queued', 'running');
UPDATE validation_parts SET created_at = (SELECT v.created_at FROM validations v WHERE v.id = validation_id);
UPDATE validation_attempts SET why = 'the service was upgraded' WHERE NOT EXISTS (
    SELECT 1 FROM validation_rounds r
    WHERE r.part_id = validation_attempts.part_id AND r.aggregation = validation_attempts.aggregation
);

-- The order in which parts are taken: first parts of all validations come first, those of older validations before.
CREATE INDEX parts_by_turn ON validation_parts (state, number, created_at);
