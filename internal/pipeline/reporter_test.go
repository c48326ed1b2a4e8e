package pipeline

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ncsa/clowder-ray/internal/clowder/message"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/job"
)

// unsureVoice sends every line, and loses the confirm of the first one.
type unsureVoice struct{ said []message.Status }

func (v *unsureVoice) Tell(_ context.Context, _ job.Request, s message.Status) error {
	v.said = append(v.said, s)
	if len(v.said) == 1 {
		return job.Unknown(errors.New("the connection went before the confirm"))
	}
	return nil
}

// toldOnce are the lines that a user hears once, and whether the reader shows them already when they may be sent again.
var toldOnce = map[string]struct {
	kind  message.StatusKind
	heard bool
}{
	"a first line that arrives": {message.StatusStart, true}, "a first line that does not": {message.StatusStart, false},
	"a last line that arrives": {message.StatusDone, true}, "a last line that does not": {message.StatusDone, false},
}

// doubtful runs a reporter whose reader shows the line of a kind, or shows nothing; asked is when that was looked for.
func doubtful(t *testing.T, voice Voice, kind message.StatusKind, heard bool) (r *reporter, asked *time.Time) {
	t.Helper()
	asked = new(time.Time)
	r = newReporter(voice, zap.NewNop(), func(string, message.Status) {}, func(_ context.Context, _ string, k message.StatusKind) bool {
		*asked = time.Now()
		return k == kind && heard
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { r.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return r, asked
}

func TestALineWhoseConfirmIsLostIsSentAgainWhereItWasNotHeard(t *testing.T) {
	for name, tc := range toldOnce {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				voice, began := &unsureVoice{}, time.Now()
				r, asked := doubtful(t, voice, tc.kind, tc.heard)
				r.say(run, job.Request{}, message.Status{Kind: tc.kind, Text: "A word", At: began})
				r.drain(t.Context())
				want := 2
				if tc.heard {
					want = 1
				}
				require.Len(t, voice.said, want)
				require.False(t, r.owes())
				require.Equal(t, tc.kind.Terminal(), r.finished(run))
				require.Equal(t, doubt, asked.Sub(began), "the line had time to arrive")
			})
		})
	}
}

func TestALineOfAnEarlierProcessIsToldWhereItDoesNotArrive(t *testing.T) {
	for name, tc := range toldOnce {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				voice, began := &slowVoice{}, time.Now()
				r, asked := doubtful(t, voice, tc.kind, tc.heard)
				r.sayAgain(run, job.Request{}, message.Status{Kind: tc.kind, Text: "A word", At: began})
				r.drain(t.Context())
				if tc.heard {
					require.Empty(t, voice.said)
				} else {
					require.Equal(t, []string{"A word"}, voice.said)
				}
				require.False(t, r.owes())
				require.Equal(t, tc.kind.Terminal(), r.finished(run))
				require.Equal(t, doubt, asked.Sub(began), "the line had time to arrive")
			})
		})
	}
}

// slowVoice takes a second for a line.
type slowVoice struct {
	mu   sync.Mutex
	said []string
}

func (v *slowVoice) Tell(_ context.Context, _ job.Request, s message.Status) error {
	<-time.After(time.Second)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.said = append(v.said, s.Text)
	return nil
}

func TestTheEndOfAJobIsToldThoughAnotherLineIsOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		voice := &slowVoice{}
		r := newReporter(voice, zap.NewNop(), func(string, message.Status) {}, func(context.Context, string, message.StatusKind) bool { return false })
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { r.Run(ctx) })
		r.say(run, job.Request{}, message.Status{Kind: message.StatusProcessing, Text: "Uploading", At: time.Now(), Passing: true})
		<-time.After(500 * time.Millisecond)
		for i := range 100 { // lines of other jobs do not wait for each other
			r.say("other"+strconv.Itoa(i), job.Request{}, message.Status{Kind: message.StatusStart, Text: "Accepted", At: time.Now()})
		}
		r.say(run, job.Request{}, message.Status{Kind: message.StatusDone, Text: "Done", At: time.Now()})
		began := time.Now()
		r.drain(ctx)
		require.True(t, r.finished(run))
		require.Subset(t, voice.said, []string{"Uploading", "Done"})
		require.Len(t, voice.said, 102)
		require.Less(t, time.Since(began), 20*time.Second)
		cancel()
		running.Wait()
	})
}
