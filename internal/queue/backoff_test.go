package queue

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

func TestBackoffDoublesItsCeilingAndKeepsItsFloor(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		draw func(int64) int64
		want []time.Duration
	}{
		"the longest waits": {
			draw: func(n int64) int64 { return n - 1 },
			want: []time.Duration{1 * time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 30 * time.Second, 30 * time.Second},
		},
		"the shortest waits": {
			draw: func(int64) int64 { return 0 },
			want: []time.Duration{500 * time.Millisecond, 500 * time.Millisecond, 500 * time.Millisecond},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &backoff{low: 500 * time.Millisecond, high: 30 * time.Second, draw: tc.draw}
			for range 2 {
				for i, want := range tc.want {
					require.Equal(t, want, b.next(), i)
				}
				b.reset()
			}
		})
	}
}

func TestBackoffNeverOverflows(t *testing.T) {
	t.Parallel()
	b := newBackoff(500*time.Millisecond, 30*time.Second)
	for range 1000 {
		wait := b.next()
		require.GreaterOrEqual(t, wait, 500*time.Millisecond)
		require.LessOrEqual(t, wait, 30*time.Second)
	}
}

// lived makes a link whose sessions live as long as the test says, without a broker.
func lived(t *testing.T, log *zap.Logger, lives ...time.Duration) (begun []time.Time) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := newLink(connConsume, Config{URI: "amqp://host"}.withDefaults(), log, NewMetrics(prometheus.NewRegistry()))
	err := l.repeat(ctx, func(context.Context) error {
		begun = append(begun, time.Now())
		if len(begun) > len(lives) {
			cancel()
			return nil
		}
		<-time.After(lives[len(begun)-1])
		return errors.New("the network is down")
	})
	require.NoError(t, err)
	return begun
}

func TestASessionThatLivedAMinuteMakesTheNextWaitShort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		short := 10 * time.Second
		begun := lived(t, zap.NewNop(), short, short, short, short, short, short, healthyAfter, 0)
		last := len(begun) - 1
		require.LessOrEqual(t, begun[last-1].Sub(begun[last-2])-healthyAfter, time.Second)
		require.LessOrEqual(t, begun[last].Sub(begun[last-1]), 2*time.Second)
	})
}

func TestTheSameTroubleIsLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zapcore.DebugLevel)
		begun := lived(t, zap.New(core), make([]time.Duration, 100)...)
		minutes := int(begun[len(begun)-1].Sub(begun[0]) / time.Minute)
		require.Greater(t, minutes, 3)
		require.LessOrEqual(t, logs.Len(), minutes+1)
		require.GreaterOrEqual(t, logs.Len(), minutes/2)
		require.Positive(t, logs.All()[1].ContextMap()["same_again"])
	})
}

func TestRepeatsSpeaksWhenTheTextChanges(t *testing.T) {
	t.Parallel()
	var r repeats
	now := time.Now()
	say := func(text string, after time.Duration) (int, bool) {
		now = now.Add(after)
		return r.note(text, now)
	}
	for i, step := range []struct {
		text     string
		after    time.Duration
		heldBack int
		speak    bool
	}{
		{"a", 0, 0, true},
		{"a", time.Second, 0, false},
		{"b", time.Second, 0, true},
		{"a", time.Second, 0, true},
		{"a", 59 * time.Second, 0, false},
		{"a", time.Second, 1, true},
	} {
		heldBack, speak := say(step.text, step.after)
		require.Equal(t, step.speak, speak, i)
		require.Equal(t, step.heldBack, heldBack, i)
	}
	r.forget()
	_, speak := say("a", time.Second)
	require.True(t, speak)
}
