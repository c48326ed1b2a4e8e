package pipeline

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
)

// unsureVoice sends every line, and loses the confirm of the first last one.
type unsureVoice struct{ said []clowder.Status }

func (v *unsureVoice) Tell(_ context.Context, _ job.Request, s clowder.Status) error {
	v.said = append(v.said, s)
	if s.Kind.Terminal() && len(v.said) == 1 {
		return job.Unknown(errors.New("the connection went before the confirm"))
	}
	return nil
}

func TestALastLineWhoseConfirmIsLostIsSentAgainWhereItWasNotHeard(t *testing.T) {
	for name, tc := range map[string]struct {
		heard bool
		want  int
	}{
		"it was heard":     {true, 1},
		"it was not heard": {false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				voice, done := &unsureVoice{}, make(chan struct{})
				var asked time.Time
				r := newReporter(voice, zap.NewNop(), func(string, clowder.Status) { close(done) }, func(context.Context, string) bool {
					asked = time.Now()
					return tc.heard
				})
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { r.Run(ctx) })
				began := time.Now()
				r.say(run, job.Request{}, clowder.Status{Kind: clowder.StatusDone, Text: "Done", At: began})
				<-done
				require.Len(t, voice.said, tc.want)
				require.Equal(t, doubt, asked.Sub(began), "the line had time to arrive")
				require.True(t, r.finished(run))
				cancel()
				running.Wait()
			})
		})
	}
}

func TestALastLineOfAnEarlierProcessIsToldWhereItDoesNotArrive(t *testing.T) {
	for name, tc := range map[string]struct {
		heard bool
		want  []string
	}{
		"it arrives meanwhile":      {true, nil},
		"it was not sent after all": {false, []string{"Done"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				voice := &slowVoice{}
				var asked time.Time
				r := newReporter(voice, zap.NewNop(), func(string, clowder.Status) {}, func(context.Context, string) bool {
					asked = time.Now()
					return tc.heard
				})
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { r.Run(ctx) })
				began := time.Now()
				r.sayAgain(run, job.Request{}, clowder.Status{Kind: clowder.StatusDone, Text: "Done", At: began})
				r.drain(ctx)
				require.True(t, r.finished(run))
				require.Equal(t, tc.want, voice.said)
				require.Equal(t, doubt, asked.Sub(began), "the line had time to arrive")
				cancel()
				running.Wait()
			})
		})
	}
}

// slowVoice takes a second for a line.
type slowVoice struct {
	mu   sync.Mutex
	said []string
}

func (v *slowVoice) Tell(_ context.Context, _ job.Request, s clowder.Status) error {
	<-time.After(time.Second)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.said = append(v.said, s.Text)
	return nil
}

func TestTheEndOfAJobIsToldThoughAnotherLineIsOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		voice := &slowVoice{}
		r := newReporter(voice, zap.NewNop(), func(string, clowder.Status) {}, func(context.Context, string) bool { return false })
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { r.Run(ctx) })
		r.say(run, job.Request{}, clowder.Status{Kind: clowder.StatusProcessing, Text: "Uploading", At: time.Now(), Passing: true})
		<-time.After(500 * time.Millisecond)
		for i := range 100 { // lines of other jobs do not wait for each other
			r.say("other"+strconv.Itoa(i), job.Request{}, clowder.Status{Kind: clowder.StatusStart, Text: "Accepted", At: time.Now()})
		}
		r.say(run, job.Request{}, clowder.Status{Kind: clowder.StatusDone, Text: "Done", At: time.Now()})
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
