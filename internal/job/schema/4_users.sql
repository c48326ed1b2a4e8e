ALTER TABLE jobs ADD COLUMN user TEXT GENERATED ALWAYS AS (json_extract(CAST(record AS TEXT), '$.user')) VIRTUAL;
CREATE INDEX jobs_by_user ON jobs (user, created);
