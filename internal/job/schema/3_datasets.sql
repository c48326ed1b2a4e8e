ALTER TABLE jobs ADD COLUMN dataset TEXT GENERATED ALWAYS AS (json_extract(CAST(record AS TEXT), '$.request.dataset_id')) VIRTUAL;
CREATE INDEX jobs_by_dataset ON jobs (dataset, created);
