ALTER TABLE jobs ADD COLUMN sealed_by TEXT NOT NULL DEFAULT ''; -- id of the state key that seals the secret; empty: it stands there as it is
CREATE INDEX jobs_by_seal ON jobs (sealed_by) WHERE secret <> '';
CREATE TABLE meta (
	name  TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT;
INSERT INTO meta VALUES ('id', lower(hex(randomblob(8)))); -- tells the effects of this store from those of others
