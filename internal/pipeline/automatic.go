package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/queue"
	"github.com/ncsa/clowder-ray/internal/text"
)

// maxAnnounced bounds the files of one automatic run, because its record holds them all. Further files begin another run.
const maxAnnounced = 4000

// errBegun says that an automatic run can take no more files.
var errBegun = errors.New("the run has begun")

// announce handles a message that says that a file was added to a dataset, and acknowledges it.
func (in *Intake) announce(ctx context.Context, d *queue.Delivery, req job.Request, key job.Secret) error {
	p := in.pipeline
	if len(req.Announced) == 0 {
		if req.Kind != job.File {
			return in.skip(d, req, errors.New("nothing is submitted to this extractor: to predict the files of the dataset, submit it to "+p.predictor()))
		}
		req.Announced = []job.Announced{{File: req.ResourceID, JobID: req.JobID}}
	}
	if req.DatasetID == "" {
		return in.skip(d, req, errors.New("the file is in no dataset, so nothing asks for its prediction"))
	}
	req.Parameters, req.Name = nil, ""
	rec, entry, err := in.note(ctx, req, key, d.Redelivered)
	if kind, _ := job.Classify(err); err != nil && kind == job.KindPermanent {
		return in.reject(ctx, d, req, err, true)
	}
	if err != nil {
		return err
	}
	switch entry {
	case entryKnown:
		err = in.repeated(ctx, d, rec, req, key)
	case entryBegins:
		in.active.Add(rec.Run, rec.Owner)
		p.schedule.AddAt(rec.Run, p.clock.here(rec.NotBefore))
	case entryJoined:
		p.schedule.AddAt(rec.Run, p.clock.here(rec.NotBefore))
		fallthrough
	case entryHeld:
		in.sayJoined(req, rec.Run)
	}
	if err == nil {
		err = acked(d)
	}
	if err != nil {
		return err
	}
	crash.At(crash.Acked)
	p.metrics.received(entry == entryBegins)
	return nil
}

// entry says what became of an announcement.
type entry int

const (
	entryBegins entry = iota // it began a run
	entryJoined              // it joined a run that waits
	entryHeld                // its run has it already
	entryKnown               // it is the one that began a known run
)

// note stores the announcement. The file joins the automatic run of its user and dataset that waits until no more files are added, or begins
// such a run. So a burst of files is one run, and its record keeps them over a restart.
func (in *Intake) note(ctx context.Context, req job.Request, key job.Secret, redelivered bool) (job.Record, entry, error) {
	p := in.pipeline
	in.announcing.Lock() // two messages at once would begin two runs
	defer in.announcing.Unlock()
	run, err := p.runName(ctx, in.extractor.Queue, req)
	if err != nil {
		return job.Record{}, 0, err
	}
	known, err := p.store.Get(ctx, run)
	if !errors.Is(err, job.ErrNotFound) {
		return known, entryKnown, err
	}
	rec := job.New(run, in.extractor.Kind, req, key)
	rec.NotBefore = time.Now().Add(p.cfg.AutomaticAfter).UTC()
	beside, err := p.store.List(ctx, job.Query{Dataset: req.DatasetID, Active: !redelivered})
	if err != nil {
		return rec, 0, err
	}
	beside = slices.DeleteFunc(beside, func(r job.Record) bool {
		return r.Request.Host != req.Host || r.Owner != rec.Owner || len(r.Request.Announced) == 0
	})
	for _, other := range beside {
		if redelivered && slices.Contains(other.Request.Announced, req.Announced[0]) {
			return other, entryHeld, nil
		}
	}
	for _, other := range beside {
		next, err := p.store.Change(ctx, other.Run, func(r *job.Record) error { return addAnnounced(r, rec) })
		if errors.Is(err, errBegun) {
			continue
		}
		crash.At(crash.Joined)
		return next, entryJoined, err
	}
	if err := in.tooMany(ctx, rec); err != nil {
		return rec, 0, err
	}
	rec, _, err = p.store.Accept(ctx, rec)
	crash.At(crash.Accepted)
	if err == nil {
		p.log.Info("automatic run", zap.String("run", rec.Run), zap.String("dataset", req.DatasetID), zap.Time("not_before", rec.NotBefore))
	}
	return rec, entryBegins, err
}

// addAnnounced adds the announced files of rec to a run that waits, and lets it wait longer.
func addAnnounced(r *job.Record, rec job.Record) error {
	if r.State != job.Accepted || r.Ending != nil || r.CancelledBy != "" || len(r.Request.Announced)+len(rec.Request.Announced) > maxAnnounced {
		return errBegun
	}
	for _, a := range rec.Request.Announced {
		if !slices.ContainsFunc(r.Request.Announced, func(b job.Announced) bool { return a.File == b.File && a.Name == b.Name }) {
			r.Request.Announced = append(slices.Clip(r.Request.Announced), a) // others may hold the same list
		}
	}
	if r.Failures == 0 {
		r.NotBefore = rec.NotBefore
	}
	return nil
}

// sayJoined ends what Clowder shows of a file whose run another file began.
func (in *Intake) sayJoined(req job.Request, run string) {
	if req.JobID != "" && req.ReplyTo != "" {
		in.pipeline.reporter.Enqueue("joined-"+req.BodyHash, req, message.Status{
			Kind: message.StatusSkip, Text: "Run " + run + " looks at this file together with the other new files", At: time.Now(),
		})
	}
}

// acked acknowledges a delivery. Where the session is gone, the broker delivers it again.
func acked(d *queue.Delivery) error {
	if err := d.Ack(); err != nil && !errors.Is(err, queue.ErrSessionGone) {
		return err
	}
	return nil
}

// predictor is how Clowder knows the extractor that predicts what a person submits.
func (p *Pipeline) predictor() string {
	return p.cfg.Extractors.Of(job.Request{Announced: make([]job.Announced, 1)}).Name()
}

// quiet returns how much longer an automatic run waits for more files. After the clock was set back it waits at most one more period at a
// time.
func (p *Pipeline) quiet(rec job.Record) time.Duration {
	if len(rec.Request.Announced) == 0 || !late(rec) || rec.Ending != nil {
		return 0
	}
	return min(rec.NotBefore.Sub(p.clock.wall()), p.cfg.AutomaticAfter)
}

// chooseNews decides what an automatic run reads and with which model, and puts both into rec and settings. If it has nothing to do, it
// returns the end of the job.
func (p *Pipeline) chooseNews(ctx context.Context, rec *job.Record, e platform.Extractor, settings *job.Settings) (end change, err error) {
	skip := func(reason string) change {
		return func(r *job.Record) error { r.End(job.Skipped, reason); return nil }
	}
	if !e.Automatic {
		return skip("Automatic runs were switched off: to predict the files, submit the dataset to " + p.predictor()), nil
	}
	if err := p.cfg.Volume.ResetRun(rec.Run); err != nil {
		return nil, err
	}
	files, reason, err := p.platform.News(ctx, *rec, p.cfg.Volume.Inputs(rec.Run))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return skip(reason), nil
	}
	of, err := p.dataset(*rec)
	if err != nil {
		return nil, err
	}
	newest, err := p.registry.Find(of, "", nil)
	if kind, _ := job.Classify(err); err != nil && kind == job.KindPermanent {
		return skip(text.Capital(err.Error())), nil
	}
	if err != nil {
		return nil, err
	}
	settings.Model = newest.Ref()
	champion, err := p.registry.Champion(of, newest.Name)
	if err != nil {
		return nil, err
	}
	if champion != nil {
		settings.Model = champion.Ref()
	}
	rec.Request.Announced = files
	p.remark(*rec, fmt.Sprintf("Predicting %s of the dataset", text.Count(len(files), "new file")))
	return nil, nil
}

// unlessJoined makes a change, unless more files have joined an automatic run since it was read with n of them: then it waits again.
func unlessJoined(n int, apply change) change {
	return func(r *job.Record) error {
		if len(r.Request.Announced) != n {
			return nil
		}
		return apply(r)
	}
}
