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
			b := newBackoff(500*time.Millisecond, 30*time.Second)
			b.draw = tc.draw
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

// runSessions runs sessions of the given lengths without a broker and returns when each began.
func runSessions(t *testing.T, log *zap.Logger, lives ...time.Duration) (began []time.Time) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	l := newConnection(connConsume, Config{URI: "amqp://host"}.withDefaults(), log, NewMetrics(prometheus.NewRegistry()))
	err := l.reconnect(ctx, func(context.Context) error {
		began = append(began, time.Now())
		if len(began) > len(lives) {
			cancel()
			return nil
		}
		<-time.After(lives[len(began)-1])
		return errors.New("the network is down")
	})
	require.NoError(t, err)
	return began
}

func TestASessionThatLivedAMinuteMakesTheNextWaitShort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		short := 10 * time.Second
		began := runSessions(t, zap.NewNop(), short, short, short, short, short, short, healthyAfter, 0)
		last := len(began) - 1
		require.LessOrEqual(t, began[last-1].Sub(began[last-2])-healthyAfter, time.Second)
		require.LessOrEqual(t, began[last].Sub(began[last-1]), 2*time.Second)
	})
}

func TestTheSameErrorIsLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zapcore.DebugLevel)
		began := runSessions(t, zap.New(core), make([]time.Duration, 100)...)
		minutes := int(began[len(began)-1].Sub(began[0]) / time.Minute)
		require.Greater(t, minutes, 3)
		require.LessOrEqual(t, logs.Len(), minutes+1)
		require.GreaterOrEqual(t, logs.Len(), minutes/2)
		require.Positive(t, logs.All()[1].ContextMap()["suppressed"])
	})
}

func TestANewErrorIsLoggedAtOnce(t *testing.T) {
	t.Parallel()
	var l logLimit
	now := time.Now()
	log := func(text string, after time.Duration) (int, bool) {
		now = now.Add(after)
		return l.allow(text, now)
	}
	for i, step := range []struct {
		text       string
		after      time.Duration
		suppressed int
		logged     bool
	}{
		{"a", 0, 0, true},
		{"a", time.Second, 0, false},
		{"b", time.Second, 0, true},
		{"a", time.Second, 0, true},
		{"a", 59 * time.Second, 0, false},
		{"a", time.Second, 1, true},
	} {
		suppressed, logged := log(step.text, step.after)
		require.Equal(t, step.logged, logged, i)
		require.Equal(t, step.suppressed, suppressed, i)
	}
	l.reset()
	_, logged := log("a", time.Second)
	require.True(t, logged)
}
