package job

import (
	"context"
	"fmt"
	"strings"
	"time"
)

const (
	// mostParameters is the limit for the parameters of a job in bytes. The user reads it in a sentence.
	mostParameters = 64 << 10
	// mostText and mostPart bound the texts and the documents of a record that is shrunk.
	mostText = 1000
	mostPart = 64 << 10
)

// Shrink makes records smaller that an older version wrote and that are too large to be read. It keeps the owner of the job and
// the handle that releases its attempt on Ray. A job that is not over ends as failed, and its user is told why. It returns the
// names of the jobs. It never decodes such a record. Each record is changed once, in one statement.
func (s *SQLite) Shrink(ctx context.Context) (runs []string, err error) {
	rows, err := s.read.QueryContext(ctx, fmt.Sprintf("SELECT run FROM jobs WHERE length(record) > %d ORDER BY created, run", readableBytes))
	if err != nil {
		return nil, fmt.Errorf("look for records that are too large: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var run string
		if err := rows.Scan(&run); err != nil {
			return nil, fmt.Errorf("look for records that are too large: %w", err)
		}
		runs = append(runs, run)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("look for records that are too large: %w", err)
	}
	for _, run := range runs {
		now := s.now().UTC()
		if _, err := s.write.ExecContext(ctx, shrinkRecord, now.UnixNano(), now.Format(time.RFC3339Nano), run); err != nil {
			return nil, fmt.Errorf("make the record of job %s smaller: %w", run, err)
		}
	}
	return runs, nil
}

// shrinkRecord is one statement, so that a reader sees the record as it was or as it will be.
var shrinkRecord = fmt.Sprintf(`UPDATE jobs SET version = version + 1, updated = ?1, record = (
	WITH big AS MATERIALIZED (SELECT CAST(record AS TEXT) AS doc)
	SELECT CAST(json_patch('{}', json_object(%s)) AS BLOB) FROM big
) WHERE run = ?3 AND length(record) > %d`, strings.Join([]string{
	// Merging into an empty object leaves out what is null.
	`'run', run`, `'state', state`, `'updated', ?2`, `'trimmed', json('true')`,
	`'request', json_object(` + strings.Join([]string{
		textAt("request", "key"), textAt("request", "job_id"), value("request", "api_version"), textAt("request", "host"), textAt("request", "extractor"),
		textAt("request", "kind"), textAt("request", "resource_id"), textAt("request", "dataset_id"), textAt("request", "name"),
		value("request", "retry_count"), textAt("request", "reply_to"), textAt("request", "correlation_id"), textAt("request", "body_hash"),
		textAt("request", "received"),
	}, ", ") + ")",
	textAt("kind"), textAt("owner"), value("attempt"), value("restarts"), value("handle"), value("stale"), value("model"), value("ledger"),
	textAt("began"), textAt("trained"), value("greeted"), textAt("cancelled_by"), textAt("stopped_by"), textAt("target"), textAt("created"),
	`'ending', CASE WHEN doc -> '$.ending' IS NOT NULL THEN json_object(` + strings.Join([]string{
		textAt("ending", "state"), textAt("ending", "text"), value("ending", "bad_input"),
	}, ", ") + `) WHEN active = 1 THEN json_object('state', 'failed', 'bad_input', json('true'), 'text', ` + tooLargeSentence + `) END`,
}, ", "), readableBytes)

// tooLargeSentence is what the user of such a job reads.
var tooLargeSentence = fmt.Sprintf(`CASE WHEN length(doc -> '$.request.parameters') > %d
	THEN printf('the parameters of this request are too large (%%.1f MB, at most %d kB are taken): submit it again with the fields of the form only',
		length(doc -> '$.request.parameters') / 1e6)
	ELSE printf('%s (%%.1f MB, at most %s are kept): submit it again', length(record) / 1e6) END`,
	mostParameters, mostParameters>>10, ErrTooLarge, megabytes(maxRecordBytes))

// textAt is a member of an object that keeps the beginning of a text.
func textAt(path ...string) string {
	return fmt.Sprintf("'%s', substr(doc ->> '%s', 1, %d)", path[len(path)-1], member(path), mostText)
}

// value is a member of an object that keeps a value unless it is large.
func value(path ...string) string {
	at := member(path)
	return fmt.Sprintf("'%s', CASE WHEN length(doc -> '%s') <= %d THEN json(doc -> '%s') END", path[len(path)-1], at, mostPart, at)
}

func member(path []string) string { return "$." + strings.Join(path, ".") }
