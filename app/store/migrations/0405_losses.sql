-- How many workers in a row were lost with the part, since its last stored round. Each loss moves the part one turn back.
ALTER TABLE validation_parts ADD COLUMN losses BIGINT NOT NULL DEFAULT 0;
DROP INDEX parts_by_turn;
CREATE INDEX parts_by_turn ON validation_parts (state, (number + losses), created_at);
