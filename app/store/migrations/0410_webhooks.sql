-- Who is told what happens to an owner's plans, runs and validations. The secret is kept as it is, since it signs.
CREATE TABLE webhooks (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    url TEXT NOT NULL,
    secret TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL
);

CREATE INDEX webhooks_by_owner ON webhooks (owner);

-- Written in the transaction of what they tell. Of one resource they are delivered in the order of their numbers, and
-- `next_at` is when the next attempt may begin: later after a failure, and while one is under way.
CREATE TABLE webhook_deliveries (
    webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    resource TEXT NOT NULL,
    number BIGINT NOT NULL,
    body TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    attempts BIGINT NOT NULL,
    next_at DOUBLE PRECISION NOT NULL,
    delivered_at DOUBLE PRECISION,
    answer TEXT NOT NULL,
    PRIMARY KEY (webhook_id, id)
);

CREATE UNIQUE INDEX deliveries_in_order ON webhook_deliveries (webhook_id, resource, number);
CREATE INDEX deliveries_to_make ON webhook_deliveries (delivered_at, next_at);
CREATE INDEX deliveries_by_age ON webhook_deliveries (created_at);
