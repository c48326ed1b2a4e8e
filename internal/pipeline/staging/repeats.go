package staging

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/stage"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Repeats keeps Clowder from starting too many jobs by itself, and the same one twice. A person may start both.
type Repeats struct {
	Platform Platform
	Records  Records
	// PerDay is how many jobs Clowder may start by itself for one user and dataset within a day; 0 does not limit them.
	PerDay int

	// deciding is held from the look at the other jobs to the record of the decision: two equal jobs at once would both go on.
	deciding sync.Mutex
}

const day = 24 * time.Hour

// errEnough ends a look at records.
var errEnough = errors.New("enough")

// note writes down who sent a job about a single file. A job too many has an end.
func (r *Repeats) note(ctx context.Context, rec job.Record) (job.Record, stage.Change, error) {
	if rec.Request.Kind != job.File || len(rec.Request.Announced) > 0 || rec.SentBy != "" {
		return rec, nil, nil
	}
	sender, err := r.Platform.Sender(ctx, rec)
	if err != nil {
		return rec, nil, err
	}
	r.deciding.Lock()
	defer r.deciding.Unlock()
	if sender.ByItself() && r.PerDay > 0 {
		others := 0
		err := r.others(ctx, rec, func(other job.Record) error {
			if other.SentBy.ByItself() && !skipped(other) && time.Since(other.Created) < day {
				others++
			}
			if others == r.PerDay {
				return errEnough
			}
			return nil
		})
		switch {
		case errors.Is(err, errEnough):
			return rec, skip(fmt.Sprintf("%s, and %s of that kind began for you in this dataset within a day, which is the limit. "+
				"To run this one, submit the dataset. For predictions of new files, see Automatic predictions", why(sender), text.Count(others, "job"))), nil
		case err != nil:
			return rec, nil, err
		}
	}
	rec, err = r.Records.Amend(ctx, rec, func(r *job.Record) error { r.SentBy = sender; return nil })
	return rec, nil, err
}

// refuse ends a job that Clowder started by itself, if another one has the same likeness. It notes the likeness of all others.
func (r *Repeats) refuse(ctx context.Context, rec job.Record, inputs []job.Input) (stage.Change, error) {
	if rec.SentBy == "" {
		return nil, nil
	}
	likeness, err := likenessOf(rec, inputs)
	if err != nil {
		return nil, err
	}
	r.deciding.Lock()
	defer r.deciding.Unlock()
	if rec.SentBy.ByItself() {
		var like job.Record
		err := r.others(ctx, rec, func(other job.Record) error {
			if other.Likeness == likeness && worthwhile(other) {
				like = other // the newest one counts
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if like.Run != "" {
			return skip(repeated(rec.SentBy, like)), nil
		}
	}
	// The stored record gets the likeness alone: what else rec says is written once the job is staged.
	_, err = r.Records.Change(ctx, rec.Run, func(r *job.Record) error { r.Likeness = likeness; return nil })
	return nil, err
}

// others calls look for each other job of the same user in the same dataset.
func (r *Repeats) others(ctx context.Context, rec job.Record, look func(job.Record) error) error {
	return r.Records.Each(ctx, job.Query{Dataset: rec.Request.DatasetID}, func(other job.Record) error {
		if other.Run == rec.Run || other.Owner != rec.Owner || other.Request.Host != rec.Request.Host {
			return nil
		}
		return look(other)
	})
}

// likenessOf is a digest of what decides what comes out of a job about a single file.
func likenessOf(rec job.Record, inputs []job.Input) (string, error) {
	type content struct {
		ID, Name, Source, SHA256, Label string
		Columns                         []job.Column
		Size                            int64
	}
	read := make([]content, len(inputs))
	for i, in := range inputs {
		read[i] = content{in.ID, in.Name, in.Source, in.SHA256, in.Label, in.Columns, in.Size}
	}
	var values map[string]any
	if rec.Resolved != nil {
		values = rec.Resolved.Values
	}
	doc, err := json.Marshal([]any{rec.Request.Extractor, rec.Request.ResourceID, rec.Settings, values, rec.Model, read})
	if err != nil {
		return "", fmt.Errorf("compare the job with earlier ones: %w", err)
	}
	sum := sha256.Sum256(doc)
	return hex.EncodeToString(sum[:]), nil
}

// worthwhile reports whether the results of a job are there or may still come.
func worthwhile(rec job.Record) bool {
	if rec.Ending != nil {
		return rec.Ending.State == job.Done
	}
	return rec.State == job.Done || rec.Active() && rec.CancelledBy == ""
}

func skipped(rec job.Record) bool { return rec.Ending != nil && rec.Ending.State == job.Skipped }

func skip(reason string) stage.Change {
	return func(r *job.Record) error { r.End(job.Skipped, reason); return nil }
}

// why says that Clowder started a job by itself, and how the user can tell.
func why(sender job.Sender) string {
	if sender == job.Feed {
		return "This job came without settings, as a feed of Clowder sends it"
	}
	return "Clowder submitted this job by itself, because the file got a new version"
}

// repeated says which run has done the work of a job already, where its results are, and how to run it again.
func repeated(sender job.Sender, like job.Record) string {
	again := "To run it again, submit the dataset, or submit the file a minute after its new version"
	if sender == job.Feed {
		again = "To run it again, submit the dataset, or submit the file with a setting"
	}
	state := "is at work on the same content with the same settings"
	if like.Ending != nil {
		state = "has the result for the same content and settings: " + strings.TrimSuffix(like.Ending.Text, ".")
	}
	return fmt.Sprintf("%s. Run %s %s. %s", why(sender), like.Run, state, again)
}
