-- These columns were computed from the record, which SQLite parsed again at each change. Now they are written.
DROP INDEX jobs_by_dataset;
DROP INDEX jobs_by_user;
ALTER TABLE jobs DROP COLUMN dataset;
ALTER TABLE jobs DROP COLUMN user;
ALTER TABLE jobs ADD COLUMN dataset TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN user TEXT NOT NULL DEFAULT '';
UPDATE jobs SET
	dataset = coalesce(json_extract(CAST(record AS TEXT), '$.request.dataset_id'), ''),
	user = coalesce(json_extract(CAST(record AS TEXT), '$.user'), '')
	WHERE json_valid(CAST(record AS TEXT));
CREATE INDEX jobs_by_dataset ON jobs (dataset, created);
CREATE INDEX jobs_by_user ON jobs (user, created);
