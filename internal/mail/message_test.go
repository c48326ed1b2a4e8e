package mail

import (
	"context"
	"io"
	"mime"
	"mime/quotedprintable"
	netmail "net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/mail/mailtest"
)

// notifier is one that does not pause, and its log.
func notifier(t *testing.T, server string, all records) (*Notifier, *observer.ObservedLogs) {
	t.Helper()
	core, logs := observer.New(zap.WarnLevel)
	n, err := New(Config{Server: server, Sender: "clowder@example.org", Log: zap.New(core)}, all)
	require.NoError(t, err)
	n.pause = time.Millisecond
	return n, logs
}

// read returns the subject and the text of a message as its reader sees them.
func read(t *testing.T, message string) (subject, body string) {
	t.Helper()
	m, err := netmail.ReadMessage(strings.NewReader(message))
	require.NoError(t, err)
	subject, err = (&mime.WordDecoder{}).DecodeHeader(m.Header.Get("Subject"))
	require.NoError(t, err)
	require.Equal(t, "quoted-printable", m.Header.Get("Content-Transfer-Encoding"))
	doc, err := io.ReadAll(quotedprintable.NewReader(m.Body))
	require.NoError(t, err)
	return subject, string(doc)
}

func TestAMessageIsReadAsItWasMeant(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ dataset, text, subject, body string }{
		"letters of other languages": {
			"Größe 鳥", "Genauigkeit 0,9 – gut", "Größe 鳥: job done", "Your job for Größe 鳥 is done.\n\nGenauigkeit 0,9 – gut\n\nRun: ft-1\n",
		},
		"a line of one dot": {"Birds", "first\n.\nlast", "Birds: job done", "\n\nfirst\n.\nlast\n\nRun: ft-1\nClowder shows all its statuses"},
		"a name of several lines": {
			"a\r\nBcc: b@example.org\r\n\r\nbody", "x", "a Bcc: b@example.org body: job done", "Your job for a Bcc: b@example.org body is done.",
		},
		"a long name":      {strings.Repeat("ä", 300), "x", strings.Repeat("ä", 99) + "…: job done", "x"},
		"a name of blanks": {" \t\n", "x", "dataset d1: job done", "Your job for dataset d1 is done."},
		"a long line":      {"Birds", strings.Repeat("word ", 400) + "end", "Birds: job done", strings.Repeat("word ", 400) + "end\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mailtest.New(t, 0)
			n, logs := notifier(t, s.Address, records{"ft-1": ended("ft-1", "a@example.org", tc.dataset, job.Done, tc.text)})
			n.tell(t.Context(), "ft-1")
			require.Empty(t, logs.All())
			message := strings.ReplaceAll(<-s.Messages, "\n..", "\n.") // the protocol doubles a dot at the begin of a line
			head, _, _ := strings.Cut(message, "\n\n")
			for _, r := range head {
				require.Less(t, r, rune(128), "old servers lose other letters")
			}
			require.NotContains(t, head, "\nBcc:")
			subject, body := read(t, message)
			require.Equal(t, tc.subject, subject)
			require.Contains(t, body, tc.body)
		})
	}
}

func TestAJobThatIsRetriedHasAnotherEnd(t *testing.T) {
	t.Parallel()
	s := mailtest.New(t, 0)
	rec := ended("ft-1", "a@example.org", "Birds", job.Failed, "no disk")
	all := records{"ft-1": rec}
	n, _ := notifier(t, s.Address, all)
	for range 3 { // the end of a job can be announced again
		n.tell(t.Context(), "ft-1")
	}
	rec.State, rec.Ending, rec.Updated = job.Done, &job.Ending{State: job.Done, Text: "fine"}, rec.Updated.Add(time.Hour)
	all["ft-1"] = rec
	n.tell(t.Context(), "ft-1")
	require.Len(t, s.Messages, 2)
	subject, _ := read(t, <-s.Messages)
	require.Equal(t, "Birds: job failed", subject)
	subject, _ = read(t, <-s.Messages)
	require.Equal(t, "Birds: job done", subject)
}

func TestAServerThatRefusesIsGivenUpAndTheNextMessageIsSent(t *testing.T) {
	t.Parallel()
	s := mailtest.New(t, tries)
	n, logs := notifier(t, s.Address, records{
		"ft-lost": ended("ft-lost", "a@example.org", "Birds", job.Done, "x"), "ft-next": ended("ft-next", "b@example.org", "Stars", job.Done, "x"),
	})
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = n.Run(ctx) })
	n.Over("ft-lost")
	n.Over("ft-next")
	subject, _ := read(t, <-s.Messages)
	require.Equal(t, "Stars: job done", subject)
	stop()
	running.Wait()
	require.Empty(t, s.Messages)
	said := logs.FilterMessage("an e-mail could not be sent").All()
	require.Len(t, said, 1)
	require.Equal(t, "ft-lost", said[0].ContextMap()["run"])
	require.Contains(t, said[0].ContextMap()["error"], "451")
}

func TestAServiceThatStopsWaitsForNoServer(t *testing.T) {
	t.Parallel()
	s := mailtest.New(t, 1000)
	n, logs := notifier(t, s.Address, records{"ft-1": ended("ft-1", "a@example.org", "Birds", job.Done, "x")})
	n.pause = time.Hour
	ctx, stop := context.WithCancel(t.Context())
	stop()
	m, err := n.message(n.records.(records)["ft-1"])
	require.NoError(t, err)
	require.ErrorIs(t, n.send(ctx, m), context.Canceled)
	n.tell(ctx, "ft-1")
	require.NoError(t, n.Run(ctx))
	require.Empty(t, logs.All(), "the end of the service is no fault of the server")
}

func TestTheServerAndTheSenderAreReadFromTheirSettings(t *testing.T) {
	t.Parallel()
	for server, want := range map[string]string{
		"mail": "mail:25", "mail.example.org:587": "mail.example.org:587", "10.0.0.1": "10.0.0.1:25",
		"::1": "[::1]:25", "[::1]": "[::1]:25", "[2001:db8::5]:2525": "[2001:db8::5]:2525",
	} {
		n, err := New(Config{Server: server, Sender: `"Clowder, the service" <clowder@example.org>`}, records{})
		require.NoError(t, err, server)
		require.Equal(t, want, n.client.ServerAddr())
		m, err := n.message(ended("ft-1", "Alice <a@example.org>", "Birds", job.Failed, "x"))
		require.NoError(t, err)
		require.Equal(t, []string{`"Clowder, the service" <clowder@example.org>`}, m.GetFromString())
		require.Equal(t, []string{`"Alice" <a@example.org>`}, m.GetToString())
	}
	for name, tc := range map[string]Config{
		"no server":                   {Server: "", Sender: "a@example.org"},
		"a port of nothing":           {Server: "mail:0", Sender: "a@example.org"},
		"a sender that adds a header": {Server: "mail", Sender: "a@example.org\r\nBcc: b@example.org"},
	} {
		_, err := New(tc, records{})
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), "\n")
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindPermanent, kind, name)
	}
}
