//go:build integration

package service

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/mail/mailtest"
	"github.com/ncsa/clowder-ray/test/stack"
)

// TestUsersGetAnEmailWhenTheirJobIsOver with both versions of Clowder; requests about runs take seconds and have none.
func TestUsersGetAnEmailWhenTheirJobIsOver(t *testing.T) {
	t.Parallel()
	w := stack.NewFixture(t, stack.Program(t), table())
	one := w.AddClowder1(t, table())
	mails := mailtest.New(t, 0)
	s := w.Start(t, map[string]string{"EMAIL_SERVER": mails.Address, "EMAIL_SENDER": "clowder@example.org"})
	w.AwaitJob(t, w.Submit(t, w.Dataset, nil))
	got := <-mails.Messages
	require.Contains(t, got, "To: <"+stack.User+">")
	require.Contains(t, got, "Subject: Reviews: job done")
	require.Contains(t, got, "Accuracy 0.900")
	manage(t, w, map[string]any{"action": "list"})
	one.AwaitEnd(t, one.Submit(t, stack.Extractor))
	require.Contains(t, <-mails.Messages, "Subject: Reviews of v1: job done", "and none about the request before")
	w.AwaitJob(t, w.Submit(t, w.Dataset, map[string]any{"epochs": 100_000}))
	require.Contains(t, <-mails.Messages, "Subject: Reviews: job failed")
	require.NoError(t, s.Stop(time.Minute))
	require.Empty(t, mails.Messages)
}
