package intake

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/platform"
)

// maxAnnounced bounds the files of one automatic run, because its record holds them all. Further files begin another run.
const maxAnnounced = 4000

// errBegun says that an automatic run can take no more files.
var errBegun = errors.New("the run has begun")

// Entry says what became of an announcement.
type Entry int

// What may become of an announcement: it began a run, it joined a run that waits, its run has it already, or it is the one that began a known
// run.
const (
	Begins Entry = iota
	Joined
	Held
	Known
)

// Announcements are what Clowder tells of new files to one extractor. A burst of files is one run, and its record keeps them over a restart.
type Announcements struct {
	*shared

	extractor platform.Extractor
	// adding is held while an announcement is stored: two at once would begin two runs.
	adding sync.Mutex
}

// Announcements returns those to an extractor that predicts new files.
func (i *Intakes) Announcements(e platform.Extractor) *Announcements {
	return &Announcements{shared: i.shared, extractor: e}
}

// Add stores an announcement. The file joins the automatic run of its user and dataset that waits until no more files are added, or begins
// such a run.
func (a *Announcements) Add(ctx context.Context, req job.Request, key job.Secret, redelivered bool) (job.Record, Entry, error) {
	a.adding.Lock()
	defer a.adding.Unlock()
	run, err := a.cfg.Names.Run(ctx, a.extractor.Queue, req)
	if err != nil {
		return job.Record{}, 0, err
	}
	known, err := a.cfg.Store.Get(ctx, run)
	if !errors.Is(err, job.ErrNotFound) {
		return known, Known, err
	}
	rec := job.New(run, a.extractor.Kind, req, key)
	rec.NotBefore = time.Now().Add(a.cfg.AutomaticAfter).UTC()
	earlier, err := a.cfg.Store.List(ctx, job.Query{Dataset: req.DatasetID, Active: !redelivered})
	if err != nil {
		return rec, 0, err
	}
	earlier = slices.DeleteFunc(earlier, func(r job.Record) bool {
		return r.Request.Host != req.Host || r.Owner != rec.Owner || len(r.Request.Announced) == 0
	})
	for _, other := range earlier {
		if redelivered && slices.Contains(other.Request.Announced, req.Announced[0]) {
			return other, Held, nil
		}
	}
	for _, other := range earlier {
		next, err := a.cfg.Store.Change(ctx, other.Run, func(r *job.Record) error { return addAnnounced(r, rec) })
		if errors.Is(err, errBegun) {
			continue
		}
		crash.At(crash.Joined)
		return next, Joined, err
	}
	if err := tooMany(ctx, a.cfg.Store, a.cfg.Slots, rec); err != nil {
		return rec, 0, err
	}
	rec, _, err = a.cfg.Store.Accept(ctx, rec)
	crash.At(crash.Accepted)
	if err == nil {
		a.cfg.Log.Info("automatic run", zap.String("run", rec.Run), zap.String("dataset", req.DatasetID), zap.Time("not_before", rec.NotBefore))
	}
	return rec, Begins, err
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
