package status

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/bubble"
)

func TestMain(m *testing.M) {
	bubble.OneProcessor()
	goleak.VerifyTestMain(m)
}

const run = "ft-one"

// unsurePublisher sends every status and loses the confirm of the first one.
type unsurePublisher struct{ sent []message.Status }

func (p *unsurePublisher) Publish(_ context.Context, _ job.Request, s message.Status) error {
	p.sent = append(p.sent, s)
	if len(p.sent) == 1 {
		return job.Unknown(errors.New("the connection was lost before the confirm"))
	}
	return nil
}

// sentOnce are the statuses that must be sent once, and whether the reader shows them already when they may be sent again.
var sentOnce = map[string]struct {
	kind      message.StatusKind
	delivered bool
}{
	"a first status that arrives": {message.StatusStart, true}, "a first status that does not": {message.StatusStart, false},
	"a last status that arrives": {message.StatusDone, true}, "a last status that does not": {message.StatusDone, false},
}

// start runs a reporter whose reader shows the status of a kind, or shows nothing; asked is when it was looked up.
func start(t *testing.T, publisher Publisher, kind message.StatusKind, delivered bool) (r *Reporter, asked *time.Time) {
	t.Helper()
	asked = new(time.Time)
	r = NewReporter(publisher, Hooks{
		OnSent: func(string, message.Status) {},
		IsDelivered: func(_ context.Context, _ string, k message.StatusKind) bool {
			*asked = time.Now()
			return k == kind && delivered
		},
	}, zap.NewNop())
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return r, asked
}

func TestAStatusWhoseConfirmIsLostIsSentAgainIfItDidNotArrive(t *testing.T) {
	for name, tc := range sentOnce {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				publisher, began := &unsurePublisher{}, time.Now()
				r, asked := start(t, publisher, tc.kind, tc.delivered)
				r.Enqueue(run, job.Request{}, message.Status{Kind: tc.kind, Text: "A text", At: began})
				r.Drain(t.Context())
				want := 2
				if tc.delivered {
					want = 1
				}
				require.Len(t, publisher.sent, want)
				require.False(t, r.hasUndelivered())
				require.Equal(t, tc.kind.Terminal(), r.EndSent(run))
				require.Equal(t, settleTime, asked.Sub(began), "the status had time to arrive")
			})
		})
	}
}

func TestAStatusOfAnEarlierProcessIsSentIfItDidNotArrive(t *testing.T) {
	for name, tc := range sentOnce {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				publisher, began := &slowPublisher{}, time.Now()
				r, asked := start(t, publisher, tc.kind, tc.delivered)
				r.EnqueueUnconfirmed(run, job.Request{}, message.Status{Kind: tc.kind, Text: "A text", At: began})
				r.Drain(t.Context())
				if tc.delivered {
					require.Empty(t, publisher.sent)
				} else {
					require.Equal(t, []string{"A text"}, publisher.sent)
				}
				require.False(t, r.hasUndelivered())
				require.Equal(t, tc.kind.Terminal(), r.EndSent(run))
				require.Equal(t, settleTime, asked.Sub(began), "the status had time to arrive")
			})
		})
	}
}

// slowPublisher takes a second for a status.
type slowPublisher struct {
	mu   sync.Mutex
	sent []string
}

func (p *slowPublisher) Publish(_ context.Context, _ job.Request, s message.Status) error {
	<-time.After(time.Second)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, s.Text)
	return nil
}

func TestTheTerminalStatusIsSentThoughAnotherIsBeingSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		publisher := &slowPublisher{}
		r, _ := start(t, publisher, "", false)
		r.Enqueue(run, job.Request{}, message.Status{Kind: message.StatusProcessing, Text: "Uploading", At: time.Now(), Passing: true})
		<-time.After(500 * time.Millisecond)
		for i := range 100 { // statuses of other jobs do not wait for each other
			r.Enqueue("other"+strconv.Itoa(i), job.Request{}, message.Status{Kind: message.StatusStart, Text: "Accepted", At: time.Now()})
		}
		r.Enqueue(run, job.Request{}, message.Status{Kind: message.StatusDone, Text: "Done", At: time.Now()})
		began := time.Now()
		r.Drain(t.Context())
		require.True(t, r.EndSent(run))
		require.Subset(t, publisher.sent, []string{"Uploading", "Done"})
		require.Len(t, publisher.sent, 102)
		require.Less(t, time.Since(began), 20*time.Second)
	})
}

func TestTheSameProgressIsSentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		publisher := &slowPublisher{}
		r, _ := start(t, publisher, "", false)
		offer := func(s message.Status) {
			s.Kind, s.At = message.StatusProcessing, time.Now()
			r.Enqueue(run, job.Request{}, s)
			<-time.After(20 * time.Second)
		}
		offer(message.Status{Text: "Reading the data.", Progress: true})
		offer(message.Status{Text: "Note: 3 rows are empty.", Note: true})
		offer(message.Status{Text: "Reading the data.", Progress: true})
		offer(message.Status{Text: "Epoch 1 of 3", Progress: true})
		publisher.mu.Lock()
		defer publisher.mu.Unlock()
		require.Equal(t, []string{"Reading the data.", "Note: 3 rows are empty.", "Epoch 1 of 3"}, publisher.sent)
	})
}
