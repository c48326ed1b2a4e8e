package status

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
)

// recordingPublisher keeps what it sends and fails as often as it is told to.
type recordingPublisher struct {
	mu    sync.Mutex
	fails int
	texts []string
	reqs  []job.Request
}

func (p *recordingPublisher) Publish(_ context.Context, req job.Request, s message.Status) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails > 0 {
		p.fails--
		return job.Retryable(errors.New("the broker is away"))
	}
	p.texts, p.reqs = append(p.texts, s.Text), append(p.reqs, req)
	return nil
}

func (p *recordingPublisher) sent() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.texts...)
}

func accepted() message.Status {
	return message.Status{Kind: message.StatusStart, Text: "Accepted", At: time.Now()}
}

func progress(words string) message.Status {
	return message.Status{Kind: message.StatusProcessing, Text: words, Progress: true, At: time.Now()}
}

func done() message.Status {
	return message.Status{Kind: message.StatusDone, Text: "Done", At: time.Now()}
}

func TestWhatAnOutboxHoldsIsKnown(t *testing.T) {
	for name, tc := range map[string]struct {
		offered          []message.Status
		box, ended, over bool
		last             string
		sent             []string
	}{
		"nothing":                       {},
		"a first status":                {offered: []message.Status{accepted()}, box: true, last: "Accepted", sent: []string{"Accepted"}},
		"a first status twice":          {offered: []message.Status{accepted(), accepted()}, box: true, last: "Accepted", sent: []string{"Accepted"}},
		"another first status":          {offered: []message.Status{accepted(), {Kind: message.StatusStart, Text: "Accepted again"}}, box: true, last: "Accepted", sent: []string{"Accepted"}},
		"progress":                      {offered: []message.Status{accepted(), progress("Epoch 1")}, box: true, last: "Epoch 1", sent: []string{"Accepted", "Epoch 1"}},
		"only the newest progress":      {offered: []message.Status{accepted(), progress("Epoch 1"), progress("Epoch 2")}, box: true, last: "Epoch 2", sent: []string{"Accepted", "Epoch 2"}},
		"an end":                        {offered: []message.Status{accepted(), done()}, box: true, ended: true, over: true, last: "Done", sent: []string{"Accepted", "Done"}},
		"an end instead of progress":    {offered: []message.Status{progress("Epoch 1"), done()}, box: true, ended: true, over: true, last: "Done", sent: []string{"Done"}},
		"progress after the end":        {offered: []message.Status{done(), progress("Epoch 3")}, box: true, ended: true, over: true, last: "Done", sent: []string{"Done"}},
		"a second end":                  {offered: []message.Status{done(), {Kind: message.StatusError, Text: "Failed"}}, box: true, ended: true, over: true, last: "Done", sent: []string{"Done"}},
		"a first status after the end":  {offered: []message.Status{done(), accepted()}, box: true, ended: true, over: true, last: "Done", sent: []string{"Done"}},
		"an end that is an error":       {offered: []message.Status{{Kind: message.StatusError, Text: "Failed"}}, box: true, ended: true, over: true, last: "Failed", sent: []string{"Failed"}},
		"an end that is a skip":         {offered: []message.Status{{Kind: message.StatusSkip, Text: "Skipped"}}, box: true, ended: true, over: true, last: "Skipped", sent: []string{"Skipped"}},
		"a retry is no end":             {offered: []message.Status{{Kind: message.StatusRetry, Text: "Again"}}, box: true, last: "Again", sent: []string{"Again"}},
		"notes that wait become a line": {offered: []message.Status{accepted(), {Kind: message.StatusProcessing, Text: "One", Note: true}, {Kind: message.StatusProcessing, Text: "Two", Note: true}}, box: true, last: "Two", sent: []string{"Accepted", "One. Two"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				publisher := &recordingPublisher{}
				r := NewReporter(publisher, Hooks{OnSent: func(string, message.Status) {}}, zap.NewNop())
				for _, s := range tc.offered {
					r.Enqueue(run, job.Request{}, s)
				}
				require.Equal(t, tc.box, r.HasOutbox(run))
				require.Equal(t, tc.last, r.LastText(run))
				require.Equal(t, tc.ended, r.EndQueued(run))
				require.False(t, r.EndSent(run), "nothing is sent before Run")
				require.Empty(t, r.Ended())
				if tc.ended {
					require.True(t, r.hasUndelivered())
				}

				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { r.Run(ctx) })
				<-time.After(time.Minute)
				require.Equal(t, tc.sent, publisher.sent())
				require.Equal(t, tc.over, r.EndSent(run))
				require.Equal(t, tc.over, len(r.Ended()) == 1)
				require.False(t, r.hasUndelivered())
				r.Drain(t.Context())

				r.Forget(run)
				require.False(t, r.HasOutbox(run))
				require.Empty(t, r.LastText(run))
				require.False(t, r.EndQueued(run))
				require.False(t, r.EndSent(run))
				require.Empty(t, r.Ended())
				cancel()
				running.Wait()
			})
		})
	}
}

func TestAStatusThatCannotBeSentStaysFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		publisher := &recordingPublisher{fails: 5}
		r, _ := start(t, publisher, "", false)
		began := time.Now()
		r.Enqueue(run, job.Request{}, accepted())
		r.Enqueue(run, job.Request{}, done())
		r.Drain(t.Context())
		require.Equal(t, []string{"Accepted", "Done"}, publisher.sent())
		require.GreaterOrEqual(t, time.Since(began), 5*retryPause, "it pauses before each new try")
		require.Less(t, time.Since(began), 10*retryPause)
	})
}

func TestDrainEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		publisher := &recordingPublisher{fails: 1 << 30}
		r, _ := start(t, publisher, "", false)
		r.Enqueue(run, job.Request{}, done())
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		r.Drain(ctx)
		require.Equal(t, time.Minute, time.Since(began))
		require.False(t, r.EndSent(run))
	})
}

func TestDrainWaitsForAnEndThatWasFollowedByALateNote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		publisher := &recordingPublisher{fails: 3}
		r, _ := start(t, publisher, "", false)
		r.Enqueue(run, job.Request{}, done())
		r.Enqueue(run, job.Request{}, message.Status{Kind: message.StatusProcessing, Text: "A late note", Note: true})
		r.Drain(t.Context())
		require.True(t, r.EndQueued(run))
		require.Equal(t, []string{"Done"}, publisher.sent())
	})
}

func TestHooksAreToldOfEachStatusThatWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		var r *Reporter
		publisher := &recordingPublisher{}
		r = NewReporter(publisher, Hooks{OnSent: func(name string, s message.Status) {
			told = append(told, name+": "+s.Text)
			require.True(t, r.HasOutbox(name), "the reporter is not locked")
		}}, zap.NewNop())
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { r.Run(ctx) })
		r.Enqueue(run, job.Request{}, accepted())
		r.Enqueue(run, job.Request{}, done())
		r.Drain(t.Context())
		cancel()
		running.Wait()
		require.Equal(t, []string{run + ": Accepted", run + ": Done"}, told)
	})
}

func TestAnOutboxKeepsNoParameters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		publisher := &recordingPublisher{}
		r, _ := start(t, publisher, "", false)
		req := job.Request{JobID: "6740", ReplyTo: "replies", Parameters: map[string]any{"more_options": strings.Repeat("x", 10_000)}}
		r.Enqueue(run, req, done())
		r.Drain(t.Context())
		require.Equal(t, []job.Request{{JobID: "6740", ReplyTo: "replies"}}, publisher.reqs)
		require.NotEmpty(t, req.Parameters, "the caller's request stays as it is")
	})
}

func TestStatusesOfManyJobsKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		publisher := &recordingPublisher{}
		r, _ := start(t, publisher, "", false)
		const jobs = 50
		for i := range jobs {
			name := "job " + string(rune('A'+i))
			for _, s := range []message.Status{accepted(), {Kind: message.StatusProcessing, Text: "Uploading"}, done()} {
				s.Text = name + ": " + s.Text
				r.Enqueue(name, job.Request{}, s)
			}
		}
		r.Drain(t.Context())
		byJob := map[string][]string{}
		for _, words := range publisher.sent() {
			name, said, _ := strings.Cut(words, ": ")
			byJob[name] = append(byJob[name], said)
		}
		require.Len(t, byJob, jobs)
		for name, said := range byJob {
			require.Equal(t, []string{"Accepted", "Uploading", "Done"}, said, name)
		}
		require.Len(t, r.Ended(), jobs)
	})
}
