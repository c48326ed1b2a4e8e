package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/text"
)

// sendStart queues the first status of a job. If found is set, an earlier process may have sent it: it is looked up now, and again
// before it is sent.
func (p *Pipeline) sendStart(ctx context.Context, rec job.Record, found bool) {
	say := p.reporter.Enqueue
	if found {
		known, err := p.platform.Known(ctx, rec)
		if err != nil {
			p.log.Warn("cannot see whether the first status arrived, sending it again", zap.String("run", rec.Run), zap.Error(err))
		}
		if known.Started {
			p.markStartSent(ctx, rec.Run)
			return
		}
		if !known.Complete {
			say = p.reporter.EnqueueUnconfirmed
		}
	}
	accepted := "Accepted; checking the settings"
	switch n := len(rec.Request.Announced); {
	case n > 0:
		accepted = fmt.Sprintf("Accepted %s; checking the settings", text.Count(n, "new file"))
	case rec.Request.Name != "":
		accepted = fmt.Sprintf("Accepted %s %s; checking the settings", rec.Request.Kind, text.Excerpt(rec.Request.Name, 80))
	}
	if p.platform.Abilities(rec.Request).ConfirmsStatuses { // otherwise the record alone tells a later process that it was sent
		p.starts.expect(rec.Run)
	}
	say(rec.Run, rec.Request, message.Status{Kind: message.StatusStart, Text: accepted + p.howToStop(rec) + p.lead(rec), At: time.Now()})
}

// howToStop says how to end a job of a Clowder whose own button reaches only a submission that is still in the queue.
func (p *Pipeline) howToStop(rec job.Record) string {
	at := slices.IndexFunc(p.cfg.Extractors, func(e platform.Extractor) bool { return e.Kind == job.Runs })
	if !p.platform.Abilities(rec.Request).CancelsQueued || at < 0 || rec.Kind == job.Runs {
		return ""
	}
	return ". To stop the job, submit the dataset to " + p.cfg.Extractors[at].Name()
}

// sendEnd queues the terminal status; again says that an earlier process may have sent it.
func (p *Pipeline) sendEnd(rec job.Record, again bool) {
	say := p.reporter.Enqueue
	if again {
		say = p.reporter.EnqueueUnconfirmed
	}
	kind := message.StatusError // Clowder knows no cancelled jobs
	switch rec.Ending.State {
	case job.Done:
		kind = message.StatusDone
	case job.Skipped:
		kind = message.StatusSkip
	default:
	}
	say(rec.Run, rec.Request, message.Status{Kind: kind, Text: text.Capital(rec.Ending.Text) + p.lead(rec), At: time.Now()})
}

// onSent is called by the reporter after a status was sent. The first status is recorded, with the next change of the record where that
// can wait, and the terminal one closes the job.
func (p *Pipeline) onSent(run string, s message.Status) {
	switch {
	case s.Kind == message.StatusStart:
		crash.At(crash.StartSent)
		if p.starts.confirm(run, time.Now()) {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
		defer cancel()
		p.markStartSent(ctx, run)
	case s.Kind.Terminal():
		crash.At(crash.EndSent)
		p.schedule.Add(run)
	}
}

// isDelivered reports whether Clowder shows the first or the terminal status of a job. If Clowder cannot be asked the answer is no, because
// a status twice is better than none. Statuses of lost jobs need no repetition, because the recovery scans again.
func (p *Pipeline) isDelivered(ctx context.Context, run string, kind message.StatusKind) bool {
	if strings.HasPrefix(run, lostRun) {
		return true
	}
	rec, err := p.store.Get(ctx, run)
	if err != nil {
		return false
	}
	known, err := p.platform.Known(ctx, rec)
	return err == nil && (known.Ended || known.Started && !kind.Terminal())
}

func (p *Pipeline) markStartSent(ctx context.Context, run string) {
	_, err := p.store.Change(ctx, run, func(r *job.Record) error { r.StartSent = true; return nil })
	if err == nil || errors.Is(err, job.ErrNotFound) {
		p.starts.forget(run)
	}
	if err != nil {
		p.log.Error("record that the first status was sent", zap.String("run", run), zap.Error(err))
	}
}

// startNoted is how long a record may not say that the first status was sent. A kill in that time costs one look at the job in Clowder.
const startNoted = 15 * time.Second

// starts are the first statuses that are confirmed and not yet in the record of their job. The next change of the record writes that too, so
// that it costs no write of its own. The zero value is ready to use, and safe for concurrent use.
type starts struct {
	mu   sync.Mutex
	sent map[string]time.Time // by run; zero until the status is confirmed
}

// expect says that the first status of run may wait for the next change of the record.
func (s *starts) expect(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent == nil {
		s.sent = map[string]time.Time{}
	}
	s.sent[run] = time.Time{}
}

// confirm reports whether the next change of the record takes the news that the first status of run was sent.
func (s *starts) confirm(run string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, waits := s.sent[run]
	if waits {
		s.sent[run] = now
	}
	return waits
}

// confirmed returns when the first status of run was confirmed. It is zero if it was not, or if the record of the job says so by now.
func (s *starts) confirmed(run string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent[run]
}

// startAged reports whether the first status of a job was confirmed at least age ago.
func (p *Pipeline) startAged(rec job.Record, age time.Duration) bool {
	if at := p.starts.confirmed(rec.Run); !at.IsZero() {
		return time.Since(at) >= age
	}
	return rec.StartSent && p.clock.aged(rec.Updated, age)
}

// before lists the runs whose first status was sent before a time.
func (s *starts) before(then time.Time) (runs []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for run, at := range s.sent {
		if !at.IsZero() && at.Before(then) {
			runs = append(runs, run)
		}
	}
	return runs
}

// forget drops a run whose record says that the first status was sent, or that is over.
func (s *starts) forget(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sent, run)
}

// noteStarts writes into the records that first statuses were sent before a time.
func (p *Pipeline) noteStarts(ctx context.Context, then time.Time) {
	for _, run := range p.starts.before(then) {
		p.markStartSent(ctx, run)
	}
}

// leads reports whether the studio has a page about a job.
func (p *Pipeline) leads(rec job.Record) bool {
	return p.cfg.Studio != nil && rec.Request.DatasetID != "" && rec.Kind != job.Runs
}

// lead is the end of a status that leads to the page of the job. Clowder shows it as text, so the address stands alone at the end.
func (p *Pipeline) lead(rec job.Record) string {
	if !p.leads(rec) {
		return ""
	}
	return " " + p.cfg.Studio.Link(rec.Run)
}

// page is the address of the page of a job, empty for none.
func (p *Pipeline) page(rec job.Record) string {
	if !p.leads(rec) {
		return ""
	}
	return p.cfg.Studio.Link(rec.Run)
}

// showTime bounds what is shown of a job besides its statuses: the job does not wait for it.
const showTime = 10 * time.Second

// showLive shows in Clowder how far the job is, hideLive removes that. The job goes on without it.
func (p *Pipeline) showLive(ctx context.Context, rec job.Record) { p.besides(ctx, rec, Studio.Show) }

func (p *Pipeline) hideLive(ctx context.Context, rec job.Record) { p.besides(ctx, rec, Studio.Hide) }

func (p *Pipeline) besides(ctx context.Context, rec job.Record, do func(Studio, context.Context, job.Record) error) {
	if !p.leads(rec) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, showTime)
	defer cancel()
	if err := do(p.cfg.Studio, ctx, rec); err != nil {
		p.log.Warn("cannot change what the dataset shows of a run that goes on", zap.String("run", rec.Run), zap.Error(err))
	}
}
