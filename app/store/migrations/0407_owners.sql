-- An owner may have several keys. A key that exists becomes an owner of its own, under the id that what it made has.
ALTER TABLE api_keys ADD COLUMN owner TEXT NOT NULL DEFAULT '';
UPDATE api_keys SET owner = id;
ALTER TABLE owners ADD COLUMN name TEXT NOT NULL DEFAULT '';
INSERT INTO owners (id, name) SELECT id, name FROM api_keys WHERE 1 = 1
    ON CONFLICT (id) DO UPDATE SET name = excluded.name;
CREATE INDEX keys_by_owner ON api_keys (owner);
