CREATE TABLE IF NOT EXISTS jobs (
	run     TEXT PRIMARY KEY,
	version INTEGER NOT NULL, -- compared before every write
	state   TEXT    NOT NULL,
	active  INTEGER NOT NULL, -- 1 while the state is not terminal
	created INTEGER NOT NULL, -- nanoseconds since 1970, UTC
	updated INTEGER NOT NULL,
	secret  TEXT    NOT NULL, -- the user's key; empty once it is no longer needed
	record  BLOB    NOT NULL  -- the Record as JSON, without the key
) STRICT;
CREATE INDEX IF NOT EXISTS jobs_by_activity ON jobs (active, created);
CREATE INDEX IF NOT EXISTS jobs_by_change ON jobs (updated);
