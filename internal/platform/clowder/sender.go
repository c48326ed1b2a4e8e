package clowder

import (
	"context"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
)

const (
	// resubmitsWithin is how long after a new version of a file Clowder may still submit the jobs of the version before it. It does so in the
	// request that saves the version, so that both times come from one clock.
	resubmitsWithin = time.Minute
	// mostVersions is how many of the newest versions of a file are looked at.
	mostVersions = 20
)

// Sender tells a message about a file that Clowder sent by itself from one of a person. The page of Clowder sends all fields of a form, a feed
// sends none. Clowder writes a job of a new version right after it has saved the version, and nothing else distinguishes it: a person who
// submits the file in that minute counts as Clowder, and one who submits it later never does.
func (c *Platform) Sender(ctx context.Context, rec job.Record) (job.Sender, error) {
	if rec.Request.Kind != job.File || !c.Abilities(rec.Request).SubmitsFiles {
		return job.Person, nil
	}
	s, err := c.session(rec)
	if err != nil {
		return "", err
	}
	submitted := clowder.Job{ID: rec.Request.JobID}.Submitted()
	if keeps, can := s.(keeper); can && !submitted.IsZero() {
		versions, err := keeps.Versions(ctx, rec.Request.ResourceID, mostVersions)
		if kind, _ := job.Classify(err); err != nil && kind != job.KindPermanent {
			return "", err
		}
		for _, v := range versions { // none where Clowder refuses to list them: the download says why
			if v.Number > 1 && follows(submitted, v.SavedAt) {
				return job.NewVersion, nil
			}
		}
	}
	if len(rec.Request.Parameters) == 0 {
		return job.Feed, nil
	}
	return job.Person, nil
}

// follows reports whether a job, whose time is in whole seconds, was submitted by the request that saved a version.
func follows(submitted, saved time.Time) bool {
	after := submitted.Sub(saved.Truncate(time.Second))
	return !saved.IsZero() && after >= 0 && after <= resubmitsWithin
}
