//go:build integration

package queue

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

func TestHeartbeatsThatNobodyReadsAreNoticed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	core, logged := observer.New(zap.InfoLevel)
	f.log = zap.New(core)
	f.publisher(Announcement{Exchange: "extractors", Every: time.Second, Body: func() []byte { return []byte("{}") }})
	count := func(word string) int { return logged.FilterMessageSnippet(word).Len() }
	require.Eventually(t, func() bool { return count("nobody reads the heartbeats") == 1 }, soon, time.Millisecond)

	ch := f.channel()
	q, err := ch.QueueDeclare("", false, true, true, false, nil)
	require.NoError(t, err)
	require.NoError(t, ch.QueueBind(q.Name, "*", "extractors", false, nil))
	require.Eventually(t, func() bool { return count("reads the heartbeats again") == 1 }, soon, time.Millisecond)
	require.Equal(t, 1, count("nobody reads the heartbeats"), "once")
}

func TestQueuesThatNobodyReadsAreFound(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.publish(2)
	ch := f.channel()
	for _, name := range []string{"clowder.empty", "clowder.read"} {
		_, err := ch.QueueDeclare(name, true, false, false, false, nil)
		require.NoError(t, err)
	}
	_, err := ch.Consume("clowder.read", "", true, false, false, false, nil)
	require.NoError(t, err)
	unread, err := Unread(t.Context(), f.cfg, []string{f.cfg.Queue, "clowder.empty", "clowder.read", "clowder.gone"})
	require.NoError(t, err)
	require.Equal(t, []string{f.cfg.Queue, "clowder.gone (which does not exist)"}, unread)
	unread, err = Unread(t.Context(), f.cfg, nil)
	require.NoError(t, err)
	require.Empty(t, unread)
}
