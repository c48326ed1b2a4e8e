package mail

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/mail/mailtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type records map[string]job.Record

func (r records) Get(_ context.Context, run string) (job.Record, error) {
	rec, ok := r[run]
	if !ok {
		return rec, job.ErrNotFound
	}
	return rec, nil
}

func ended(run, user, name string, state job.State, text string) job.Record {
	return job.Record{Run: run, User: user, State: state, Request: job.Request{Name: name, DatasetID: "d1"}, Ending: &job.Ending{State: state, Text: text}}
}

func TestUsersAreToldHowTheirJobsEnded(t *testing.T) {
	t.Parallel()
	all := records{
		"cancelled": ended("cancelled", "a@example.org", "Birds", job.Cancelled, "Cancelled"),
		"nobody":    ended("nobody", "", "Birds", job.Done, "Done"),
		"unwanted":  ended("unwanted", "a@example.org", "Birds", job.Done, "Listed"),
		"bad":       ended("bad", "no address\r\nBcc: b@example.org", "Birds", job.Done, "Done"),
		"failed":    ended("failed", "a@example.org", "", job.Failed, "The label column is empty: fill it"),
		"done":      ended("done", "a@example.org", "Größe\r\nBcc: b@example.org", job.Done, "Accuracy 0.9"),
	}
	s := mailtest.New(t, 1)
	n, err := New(Config{
		Server: s.Address, Sender: "Clowder <clowder@example.org>", Wanted: func(rec job.Record) bool { return rec.Run != "unwanted" }, Log: zaptest.NewLogger(t),
	}, all)
	require.NoError(t, err)
	n.pause = time.Millisecond
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = n.Run(ctx) })
	for _, run := range []string{"unknown", "cancelled", "nobody", "unwanted", "bad", "failed", "failed", "done"} {
		n.Over(run)
	}
	got := []string{<-s.Messages, <-s.Messages}
	stop()
	running.Wait()
	require.Empty(t, s.Messages)
	require.Contains(t, got[0], "Subject: dataset d1: job failed")
	require.Contains(t, got[0], "To: <a@example.org>")
	require.Contains(t, got[0], "The label column is empty: fill it")
	require.Contains(t, got[1], "Accuracy 0.9")
	require.NotContains(t, got[1], "\nBcc:", "the name of a dataset adds no header")
}

func TestWrongSettingsOfMailAreRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ server, sender, want string }{
		"a port that is none":   {"mail:smtp", "a@example.org", "EMAIL_SERVER: \"smtp\" is no port"},
		"a port that is high":   {"mail:99999", "a@example.org", "EMAIL_SERVER"},
		"a sender that is none": {"mail", "clowder", "EMAIL_SENDER: \"clowder\" is no e-mail address"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := New(Config{Server: tc.server, Sender: tc.sender}, records{})
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestMessagesThatWaitAreBounded(t *testing.T) {
	t.Parallel()
	n, err := New(Config{Server: "mail", Sender: "a@example.org", Log: zaptest.NewLogger(t)}, records{})
	require.NoError(t, err)
	for range waiting + 1 {
		n.Over("run")
	}
	require.Len(t, n.over, waiting)
}
