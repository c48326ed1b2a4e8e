package pipeline

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/text"
)

// greet sends the first status of a job. One that was accepted before a restart is looked up first, and again before it is sent,
// because its greeting may be out already or on its way.
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
	text := "Accepted; checking the settings"
	if rec.Request.Name != "" {
		text = fmt.Sprintf("Accepted dataset %s; checking the settings", rec.Request.Name)
	}
	say(rec.Run, rec.Request, message.Status{Kind: message.StatusStart, Text: text, At: time.Now()})
}

// sayEnd queues the terminal status; again says that an earlier process may have sent it.
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
	say(rec.Run, rec.Request, message.Status{Kind: kind, Text: text.Capital(rec.Ending.Text), At: time.Now()})
}

// said is called by the reporter when a line is out: the two lines that must go once are remembered.
func (p *Pipeline) onSent(run string, s message.Status) {
	switch {
	case s.Kind == message.StatusStart:
		crash.At(crash.StartSent)
		ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
		defer cancel()
		p.markStartSent(ctx, run)
	case s.Kind.Terminal():
		crash.At(crash.EndSent)
		p.schedule.Add(run)
	}
}

// heard reports whether Clowder shows the end of a job, or its beginning. Where it cannot be asked the answer is no: a word that
// comes twice is better than none. What is said about lost jobs need not be repeated, since the recovery looks at them again.
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
	if err != nil {
		p.log.Error("record that the first status was sent", zap.String("run", run), zap.Error(err))
	}
}
