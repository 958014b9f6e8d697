-- A key may expire, may only read, and tells when it was used last, to the minute. Keys that exist may do everything. A
-- release that does not know scopes would let every key do everything: it must not go on beside this one.
ALTER TABLE api_keys ADD COLUMN scope TEXT NOT NULL DEFAULT 'full';
ALTER TABLE api_keys ADD COLUMN expires_at DOUBLE PRECISION;
ALTER TABLE api_keys ADD COLUMN used_at DOUBLE PRECISION;
