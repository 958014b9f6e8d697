-- `smart` was the name of our scheme and is now the paper's. Stored validations keep their meaning under our new name.
-- Quotes within JSON strings are escaped, so a text in a failure cannot match.
UPDATE validation_parts SET scheme = 'ours' WHERE scheme = 'smart';
UPDATE validation_parts SET scheme = 'ours-offload' WHERE scheme = 'smart-offload';
UPDATE validations SET failure =
    REPLACE(REPLACE(failure, '"scheme": "smart"', '"scheme": "ours"'), '"scheme": "smart-offload"', '"scheme": "ours-offload"')
    WHERE failure LIKE '%"scheme": "smart%';
UPDATE validation_events SET body =
    REPLACE(REPLACE(body, '"scheme": "smart"', '"scheme": "ours"'), '"scheme": "smart-offload"', '"scheme": "ours-offload"')
    WHERE body LIKE '%"scheme": "smart%';
