package status

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder/ability"
	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/text"
)

// LostRun begins the name under which a lost job, which has no record, gets its last status.
const LostRun = "lost-"

// Platform shows statuses to users.
type Platform interface {
	// Abilities is what the Clowder that sent the request can do. Nothing is asked for it.
	Abilities(req job.Request) ability.Set
	// Known returns what the user's platform shows of the job so far.
	Known(ctx context.Context, rec job.Record) (platform.Known, error)
}

// Records is the store, as far as it keeps whether the first status was sent.
type Records interface {
	Get(ctx context.Context, run string) (job.Record, error)
	Change(ctx context.Context, run string, fn func(*job.Record) error) (job.Record, error)
}

// MilestonesConfig says what is around Milestones.
type MilestonesConfig struct {
	Publisher  Publisher
	Platform   Platform
	Records    Records
	Extractors platform.Extractors
	// Page is the address of the page of a job, empty for none.
	Page func(rec job.Record) string
	// Aged reports whether a stored time is at least d away.
	Aged func(stored time.Time, d time.Duration) bool
	// Wake is called for a run whose terminal status was sent.
	Wake func(run string)
	Log  *zap.Logger
}

// Milestones sends the first and the last status of each job, and notes in the record that the first was sent. After a kill the platform is
// asked what it shows; where it cannot be asked, a status may come twice. It is safe for concurrent use.
type Milestones struct {
	*Reporter

	cfg    MilestonesConfig
	starts starts
}

// NewMilestones returns milestones and the reporter that sends them with all other statuses. Run sends what is queued.
func NewMilestones(cfg MilestonesConfig) *Milestones {
	m := &Milestones{cfg: cfg}
	m.Reporter = NewReporter(cfg.Publisher, Hooks{OnSent: m.onSent, IsDelivered: m.isDelivered}, cfg.Log)
	return m
}

// SendStart queues the first status of a job. If found is set, an earlier process may have sent it: it is looked up now, and again
// before it is sent.
func (m *Milestones) SendStart(ctx context.Context, rec job.Record, found bool) {
	say := m.Enqueue
	if found {
		known, err := m.cfg.Platform.Known(ctx, rec)
		if err != nil {
			m.cfg.Log.Warn("cannot see whether the first status arrived, sending it again", zap.String("run", rec.Run), zap.Error(err))
		}
		if known.Started {
			m.markStartSent(ctx, rec.Run)
			return
		}
		if !known.Complete {
			say = m.EnqueueUnconfirmed
		}
	}
	accepted := "Accepted; checking the settings"
	switch n := len(rec.Request.Announced); {
	case n > 0:
		accepted = fmt.Sprintf("Accepted %s; checking the settings", text.Count(n, "new file"))
	case rec.Request.Name != "":
		accepted = fmt.Sprintf("Accepted %s %s; checking the settings", rec.Request.Kind, text.Excerpt(rec.Request.Name, 80))
	}
	if m.cfg.Platform.Abilities(rec.Request).ConfirmsStatuses { // otherwise the record alone tells a later process that it was sent
		m.starts.expect(rec.Run)
	}
	say(rec.Run, rec.Request, message.Status{Kind: message.StatusStart, Text: accepted + m.howToStop(rec) + m.page(rec), At: time.Now()})
}

// howToStop says how to end a job of a Clowder whose own button reaches only a submission that is still in the queue.
func (m *Milestones) howToStop(rec job.Record) string {
	at := slices.IndexFunc(m.cfg.Extractors, func(e platform.Extractor) bool { return e.Kind == job.Runs })
	if !m.cfg.Platform.Abilities(rec.Request).CancelsQueued || at < 0 || rec.Kind == job.Runs {
		return ""
	}
	return ". To stop the job, submit the dataset to " + m.cfg.Extractors[at].Name()
}

// page is the end of a status that leads to the page of the job. Clowder shows it as text, so the address stands alone at the end.
func (m *Milestones) page(rec job.Record) string {
	address := m.cfg.Page(rec)
	if address == "" {
		return ""
	}
	return " " + address
}

// SendEnd queues the terminal status; again says that an earlier process may have sent it.
func (m *Milestones) SendEnd(rec job.Record, again bool) {
	say := m.Enqueue
	if again {
		say = m.EnqueueUnconfirmed
	}
	kind := message.StatusError // Clowder knows no cancelled jobs
	switch rec.Ending.State {
	case job.Done:
		kind = message.StatusDone
	case job.Skipped:
		kind = message.StatusSkip
	default:
	}
	say(rec.Run, rec.Request, message.Status{Kind: kind, Text: text.Capital(rec.Ending.Text) + m.page(rec), At: time.Now()})
}

// onSent is called by the reporter after a status was sent. The first status is recorded, with the next change of the record where that
// can wait, and the terminal one closes the job.
func (m *Milestones) onSent(run string, s message.Status) {
	switch {
	case s.Kind == message.StatusStart:
		crash.At(crash.StartSent)
		if m.starts.confirm(run, time.Now()) {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), job.WriteTimeout)
		defer cancel()
		m.markStartSent(ctx, run)
	case s.Kind.Terminal():
		crash.At(crash.EndSent)
		m.cfg.Wake(run)
	}
}

// isDelivered reports whether Clowder shows the first or the terminal status of a job. If Clowder cannot be asked the answer is no, because
// a status twice is better than none. Statuses of lost jobs need no repetition, because the recovery scans again.
func (m *Milestones) isDelivered(ctx context.Context, run string, kind message.StatusKind) bool {
	if strings.HasPrefix(run, LostRun) {
		return true
	}
	rec, err := m.cfg.Records.Get(ctx, run)
	if err != nil {
		return false
	}
	known, err := m.cfg.Platform.Known(ctx, rec)
	return err == nil && (known.Ended || known.Started && !kind.Terminal())
}

func (m *Milestones) markStartSent(ctx context.Context, run string) {
	_, err := m.cfg.Records.Change(ctx, run, func(r *job.Record) error { r.StartSent = true; return nil })
	if err == nil || errors.Is(err, job.ErrNotFound) {
		m.starts.forget(run)
	}
	if err != nil {
		m.cfg.Log.Error("record that the first status was sent", zap.String("run", run), zap.Error(err))
	}
}

// StartUnnoted reports whether the first status of run was confirmed and its record does not say so. The caller writes it there, then calls
// StartNoted.
func (m *Milestones) StartUnnoted(run string) bool { return !m.starts.confirmed(run).IsZero() }

// StartNoted says that the record of run tells that the first status was sent, or that the job is over.
func (m *Milestones) StartNoted(run string) { m.starts.forget(run) }

// StartAged reports whether the first status of a job was confirmed at least age ago.
func (m *Milestones) StartAged(rec job.Record, age time.Duration) bool {
	if at := m.starts.confirmed(rec.Run); !at.IsZero() {
		return time.Since(at) >= age
	}
	return rec.StartSent && m.cfg.Aged(rec.Updated, age)
}

// startNoted is how long a record may not say that the first status was sent. A kill in that time costs one look at the job in Clowder.
const startNoted = 15 * time.Second

// NoteOldStarts writes into the records which first statuses were sent that have waited for another change of the record for long enough.
func (m *Milestones) NoteOldStarts(ctx context.Context) {
	m.noteStarts(ctx, time.Now().Add(-startNoted))
}

// NoteStarts writes into the records which first statuses were sent.
func (m *Milestones) NoteStarts(ctx context.Context) { m.noteStarts(ctx, time.Now().Add(time.Second)) }

// noteStarts writes into the records that first statuses were sent before a time.
func (m *Milestones) noteStarts(ctx context.Context, then time.Time) {
	for _, run := range m.starts.before(then) {
		m.markStartSent(ctx, run)
	}
}

// Forget drops what is kept of a run that is over.
func (m *Milestones) Forget(run string) {
	m.Reporter.Forget(run)
	m.starts.forget(run)
}
