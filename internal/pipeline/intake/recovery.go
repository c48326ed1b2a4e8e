package intake

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/status"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/queue"
)

// Recovery finds jobs that Clowder lists for an extractor of this service and whose message never arrived: Clowder v2 publishes
// transient messages, which a broker loses when it restarts. Recovery publishes their messages again to the same queue. If a message was
// not lost after all, Intake recognizes the job.
//
// Clowder lists the jobs of a user to that user only. So recovery works only for users with another job that is active or failed recently.
type Recovery struct {
	*shared

	jobs      SubmittedJobs
	publisher Publisher
	// waiting counts the messages in a queue.
	waiting func(ctx context.Context, queue string) (int, error)
	// every is the time between two looks, and how old a job must be to count as lost; 0 never looks.
	every time.Duration
	log   *zap.Logger
	// notified is when users got a status about jobs that were not submitted again.
	notified map[string]time.Time
	// wrong is what was wrong with the extractors at the last look, by the host of the Clowder.
	wrong map[string]string
}

// notifyAgain is how long Clowder gets to show a status about a job that was not submitted again.
const notifyAgain = time.Hour

// recoverWithin is how old a lost job may be to be begun without asking: its user may want another by now.
const recoverWithin = 24 * time.Hour

// SubmittedJobs shows what users have submitted to Clowder.
type SubmittedJobs interface {
	// Recent lists the newest jobs that the user of rec has submitted to an extractor.
	Recent(ctx context.Context, rec job.Record, e platform.Extractor) ([]platform.Submitted, error)
	// Submission writes the message of a lost job about a dataset again, with the key of rec, which belongs to the same user.
	Submission(ctx context.Context, rec job.Record, lost platform.Submitted) ([]byte, error)
	// Registered says what is wrong with the way in which the Clowder of rec lists the extractors, with the key of the user of rec.
	Registered(ctx context.Context, rec job.Record) ([]string, error)
}

// Recovery returns the recovery of lost jobs, which scans at the given interval; publisher publishes the messages again.
func (i *Intakes) Recovery(jobs SubmittedJobs, publisher Publisher, waiting func(context.Context, string) (int, error), every time.Duration) *Recovery {
	return &Recovery{
		shared: i.shared, jobs: jobs, publisher: publisher, waiting: waiting, every: every, log: i.cfg.Log.Named("recovery"), notified: map[string]time.Time{}, wrong: map[string]string{},
	}
}

// Run looks until ctx ends. What hinders a look is logged and tried again at the next one.
func (r *Recovery) Run(ctx context.Context) error {
	var due <-chan time.Time
	if r.every > 0 {
		ticker := time.NewTicker(r.every)
		defer ticker.Stop()
		due = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-due:
		}
		if err := r.look(ctx); err != nil && ctx.Err() == nil {
			r.log.Warn("look for lost jobs", zap.Error(err))
		}
	}
}

// look asks for every extractor, and with the key of every user who is known at present.
func (r *Recovery) look(ctx context.Context) error {
	maps.DeleteFunc(r.notified, func(_ string, at time.Time) bool { return time.Since(at) > notifyAgain })
	users, err := r.users(ctx)
	if err != nil || len(users) == 0 {
		return err
	}
	var faults []error
	faults = append(faults, r.lookAtExtractors(ctx, users))
	for _, e := range r.cfg.Extractors {
		n, err := r.waiting(ctx, e.Queue)
		if err != nil {
			return err
		}
		if n > 0 {
			continue // what is missing may be among them
		}
		for _, user := range users {
			if !r.cfg.Clowder.Abilities(user.Request).ShowsJobs {
				continue
			}
			faults = append(faults, r.scan(ctx, e, user))
		}
	}
	return errors.Join(faults...)
}

// users returns one record of each user of each Clowder whose key is known.
func (r *Recovery) users(ctx context.Context) ([]job.Record, error) {
	recs, err := r.cfg.Store.List(ctx, job.Query{WithKey: true})
	if err != nil {
		return nil, err
	}
	type user struct {
		host string
		key  job.Secret
	}
	known := map[user]bool{}
	var out []job.Record
	for _, rec := range recs {
		u := user{rec.Request.Host, rec.SecretKey}
		if !known[u] {
			known[u] = true
			out = append(out, rec)
		}
	}
	return out, nil
}

// scan handles the jobs of one user that one extractor has never received.
func (r *Recovery) scan(ctx context.Context, e platform.Extractor, user job.Record) error {
	jobs, err := r.jobs.Recent(ctx, user, e)
	if err != nil {
		return err
	}
	newer := map[string]bool{}
	for _, j := range jobs { // newest first
		superseded := newer[j.Resource]
		newer[j.Resource] = true
		if !j.Waiting || time.Since(j.At) < r.every {
			continue
		}
		run, err := r.cfg.Names.Run(ctx, e.Queue, job.Request{Key: j.ID, Host: user.Request.Host})
		if err != nil {
			return err
		}
		_, err = r.cfg.Store.Get(ctx, run)
		if err == nil {
			continue
		}
		if !errors.Is(err, job.ErrNotFound) {
			return err
		}
		if err := r.recoverJob(ctx, lost{run, e, user, j}, superseded); err != nil {
			return err
		}
	}
	return nil
}

// lost is a job whose message never arrived: the name that its run would have, where it was to go, a job of the same user, and
// what Clowder shows of it.
type lost struct {
	run       string
	extractor platform.Extractor
	user      job.Record
	job       platform.Submitted
}

// recoverJob submits a lost job again. If it is too late for that, its user gets an error status.
func (r *Recovery) recoverJob(ctx context.Context, l lost, superseded bool) error {
	e, j := l.extractor, l.job
	r.log.Warn("the message of a job never arrived", zap.String("job_id", j.ID), zap.String("queue", e.Queue), zap.Time("submitted", j.At))
	const reason = "The message broker lost this request before it arrived here"
	switch {
	case e.Automatic:
		r.notify(l, message.StatusSkip, reason+"; to have the file predicted, submit its dataset to "+r.cfg.Extractors.Predictor())
		return nil
	case superseded:
		r.notify(l, message.StatusSkip, reason+"; a later request replaced it")
		return nil
	case time.Since(j.At) > recoverWithin || !j.OfDataset || e.Kind == job.Runs:
		r.notify(l, message.StatusError, reason+": submit it again")
		return nil
	}
	body, err := r.jobs.Submission(ctx, l.user, j)
	if err != nil {
		return err
	}
	return r.publisher.Publish(ctx, queue.Message{RoutingKey: e.Queue, Body: body, ContentType: "application/json", ReplyTo: l.user.Request.ReplyTo})
}

// notify sends a last status for a job that has no record, unless it has done so a short while ago.
func (r *Recovery) notify(l lost, kind message.StatusKind, text string) {
	if _, done := r.notified[l.run]; done {
		return
	}
	r.notified[l.run] = time.Now()
	req := job.Request{
		JobID: l.job.ID, APIVersion: l.user.Request.APIVersion, Extractor: l.extractor.Info.Name, ResourceID: l.job.Resource,
		ReplyTo: l.user.Request.ReplyTo,
	}
	r.cfg.Statuses.Enqueue(status.LostRun+l.run, req, message.Status{Kind: kind, Text: text, At: time.Now()})
}

// lookAtExtractors logs what has become of the extractors in each Clowder whose user's key is known: deleted, not enabled, offline, or replaced
// by those of another service. It says the same once.
func (r *Recovery) lookAtExtractors(ctx context.Context, users []job.Record) error {
	faults := map[string]error{}
	for _, user := range users {
		host := user.Request.Host
		if fault, looked := faults[host]; looked && fault == nil {
			continue
		}
		var found []string
		found, faults[host] = r.jobs.Registered(ctx, user)
		if faults[host] != nil {
			continue // the key of another user may do
		}
		wrong := strings.Join(found, "; ")
		switch wrong {
		case r.wrong[host]:
		case "":
			r.log.Info("Clowder lists the extractors as they are again", zap.String("clowder", host))
		default:
			r.log.Warn("users cannot submit as they should", zap.String("clowder", host), zap.Strings("extractors", found))
		}
		r.wrong[host] = wrong
	}
	return errors.Join(slices.Collect(maps.Values(faults))...)
}
