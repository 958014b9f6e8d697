-- Networks and fleets that callers store. The row has what is told of the newest version; versions are never changed.
-- A version whose number is its snapshot's is stored whole, any other as the patch that makes it of the one before.
CREATE TABLE networks (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    kind TEXT NOT NULL,
    version BIGINT NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL,
    n_devices BIGINT NOT NULL,
    n_links BIGINT NOT NULL
);

CREATE INDEX networks_by_owner ON networks (owner, created_at, id);

CREATE TABLE network_versions (
    network_id TEXT NOT NULL REFERENCES networks (id) ON DELETE CASCADE,
    version BIGINT NOT NULL,
    snapshot BIGINT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    n_devices BIGINT NOT NULL,
    n_links BIGINT NOT NULL,
    content BYTEA NOT NULL,
    idempotency_key TEXT,
    digest TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (network_id, version)
);

-- Versions without a key do not collide: NULL differs from NULL.
CREATE UNIQUE INDEX network_versions_by_key ON network_versions (network_id, idempotency_key);

ALTER TABLE usage ADD COLUMN network_id TEXT REFERENCES networks (id) ON DELETE CASCADE;
CREATE UNIQUE INDEX usage_by_network ON usage (network_id);
ALTER TABLE about ADD COLUMN network_id TEXT REFERENCES networks (id) ON DELETE CASCADE;
CREATE UNIQUE INDEX about_by_network ON about (network_id);

-- The stored network that a kept plan or a run was asked for with. Without CASCADE: as long as such a row is there, the
-- network's rows stay, though its owner has deleted it.
ALTER TABLE about ADD COLUMN uses TEXT REFERENCES networks (id);
CREATE INDEX about_by_use ON about (uses);
