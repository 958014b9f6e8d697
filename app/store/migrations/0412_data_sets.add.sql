-- Which data sets a worker found, by name with spaces between; empty if it does not tell.
ALTER TABLE workers ADD COLUMN data_sets TEXT NOT NULL DEFAULT '';
