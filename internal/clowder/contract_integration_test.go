//go:build integration

package clowder_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clienttest"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/broker"
)

// realSite is the Clowder v2 at CLOWDER_URL with the keys of two users and its RabbitMQ.
func realSite(t *testing.T) site {
	t.Helper()
	at := site{
		url: os.Getenv("CLOWDER_URL"), key: os.Getenv("CLOWDER_KEY"), key2: os.Getenv("CLOWDER_KEY_2"), broker: os.Getenv("RABBITMQ_URI"),
		token: os.Getenv("CLOWDER_TOKEN"), stranger: os.Getenv("CLOWDER_TOKEN_OF_STRANGER"),
	}
	if at.url == "" || at.key == "" || os.Getenv("CLOWDER_VERSION") == "1" {
		t.Skip("no real Clowder v2: CLOWDER_URL and CLOWDER_KEY are not set, or CLOWDER_VERSION is 1")
	}
	return at
}

func TestContractReal(t *testing.T) { runContract(t, realSite(t)) }

func TestMessagesReal(t *testing.T) {
	at := realSite(t)
	if at.broker == "" {
		t.Skip("the broker of the real Clowder is not known: RABBITMQ_URI is not set")
	}
	runMessages(t, at)
}

func TestMessagesDouble(t *testing.T) {
	t.Parallel()
	uri := broker.ForTest(t).Vhost(t)
	server := startDouble(t, clowdertest.Options{AMQPURI: uri, LoseOrder: true})
	runMessages(t, site{url: server.URL, key: server.Key("alice@example.org"), broker: uri})
}

// extractor is the smallest that Clowder can tell from a real one.
type extractor struct {
	info  *form.Info
	queue string
	ch    *amqp.Channel
	jobs  <-chan amqp.Delivery
}

func connect(t *testing.T, uri string) *extractor {
	t.Helper()
	conn, err := amqp.Dial(uri)
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	doc, err := os.ReadFile("../../extractor_info.json")
	require.NoError(t, err)
	info, err := form.Parse(doc)
	require.NoError(t, err)
	e := &extractor{info: info, queue: fmt.Sprintf("test.contract.%d", time.Now().UnixNano()), ch: ch}
	_, err = ch.QueueDeclare(e.queue, true, false, false, false, nil)
	require.NoError(t, err)
	e.jobs, err = ch.Consume(e.queue, "", false, false, false, false, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := ch.QueueDelete(e.queue, false, false, false)
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		for range e.jobs { // ends with the connection
		}
	})
	return e
}

func (e *extractor) beat(t *testing.T) {
	t.Helper()
	require.NoError(t, e.ch.PublishWithContext(t.Context(), "extractors", "", false, false, amqp.Publishing{Body: e.info.Heartbeat(e.queue, form.Owner{}, "test")}))
}

func (e *extractor) next(t *testing.T) amqp.Delivery {
	t.Helper()
	select {
	case d := <-e.jobs:
		require.NoError(t, d.Ack(false))
		return d
	case <-time.After(20 * time.Second):
		require.Fail(t, "no job message came")
		return amqp.Delivery{}
	}
}

// tell sends statuses as the throttle spaces them.
func (e *extractor) tell(t *testing.T, req job.Request, statuses ...message.Status) {
	t.Helper()
	var throttle message.Throttle
	for _, s := range statuses {
		throttle.Offer(s)
	}
	for {
		s, wait, ok := throttle.Next(time.Now())
		switch {
		case ok:
			s.At = time.Now()
			require.NoError(t, e.ch.PublishWithContext(t.Context(), "", req.ReplyTo, true, false, amqp.Publishing{
				CorrelationId: req.CorrelationID, DeliveryMode: amqp.Persistent, Body: message.EncodeStatus(req, e.queue, s),
			}))
			throttle.Sent(time.Now())
		case wait == 0:
			return
		default:
			<-time.After(wait)
		}
	}
}

// runMessages registers an extractor, takes a job from Clowder, and lets Clowder show how it went.
func runMessages(t *testing.T, at site) {
	t.Helper()
	ctx := t.Context()
	s := clienttest.New(t, clowder.Config{URL: at.url}).As(job.Secret(at.key))
	e := connect(t, at.broker)
	ds, err := s.CreateDataset(ctx, "Straße 数据 & more", "")
	require.NoError(t, err)
	owner, err := s.CheckKey(ctx)
	require.NoError(t, err)

	t.Run("a heartbeat registers the shipped form, and a second one keeps it", func(t *testing.T) {
		for range 2 {
			e.beat(t)
			require.Eventually(t, func() bool {
				list, err := s.Listeners(ctx)
				require.NoError(t, err)
				return slices.ContainsFunc(list, func(l clowder.Listener) bool {
					return l.Name == e.queue && l.Version == e.info.Version && l.Alive && !l.Active
				})
			}, 10*time.Second, 50*time.Millisecond)
		}
	})
	t.Run("a file takes metadata of an extractor that is registered", func(t *testing.T) {
		file, err := s.Upload(ctx, ds.ID, "", text("bird.png", "image/png", "not really"))
		require.NoError(t, err)
		entry := clowder.Metadata{
			Content: map[string]any{"predicted": "wren", "confidence": 0.9}, Listener: e.queue, Version: e.info.Version,
			Contexts: []any{map[string]any{"predicted": "http://clowder.ncsa.illinois.edu/metadata/x#predicted"}},
		}
		entry.ID, err = s.AddFileMetadata(ctx, file.ID, entry)
		require.NoError(t, err)
		list, err := clienttest.FileMetadata(ctx, s, file.ID)
		require.NoError(t, err)
		require.Len(t, list, 1)
		list[0].Created = time.Time{}
		entry.FileVersion = 1
		require.Equal(t, entry, list[0])
		notes, err := s.FileNotes(ctx, file.ID)
		require.NoError(t, err)
		require.Len(t, notes, 1)
		author, err := s.Author(ctx)
		require.NoError(t, err)
		require.NotEmpty(t, notes[0].Name)
		notes[0].Created, notes[0].Name = time.Time{}, ""
		require.Equal(t, clowder.Note{ID: entry.ID, Content: entry.Content, Version: 1, Extractor: e.queue, Author: author}, notes[0])
		of, err := s.Metadata(ctx, ds.ID)
		require.NoError(t, err)
		require.Empty(t, of, "the entry is not the dataset's")
		require.NoError(t, s.DeleteFile(ctx, file.ID))
	})
	for name, tc := range map[string]struct {
		params   map[string]any
		statuses []message.Status
		want     string
		log      []string
	}{
		"a job that works": {
			map[string]any{"epochs": 2, "use_gpu": "no"},
			[]message.Status{
				{Kind: message.StatusStart, Text: "Queued"},
				{Kind: message.StatusProcessing, Text: "Epoch 1: not Done processing."},
				{Kind: message.StatusDone, Text: "Accuracy 0.83"},
			},
			"SUCCEEDED",
			[]string{"Queued", "Epoch 1: not Done processing", "Accuracy 0.83"},
		},
		"a job that fails": {
			nil,
			[]message.Status{{Kind: message.StatusStart}, {Kind: message.StatusError, Text: "ValueError: no table\nERROR: Done processing."}},
			"ERROR",
			[]string{"Started processing.", "ValueError: no table ERROR - Done processing"},
		},
		"a job with nothing to do": {
			map[string]any{},
			[]message.Status{{Kind: message.StatusRetry, Text: "again"}, {Kind: message.StatusSkip, Text: "The same job runs already"}},
			"SKIPPED",
			[]string{"again", "The same job runs already"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			id, err := s.Submit(ctx, ds.ID, e.queue, tc.params)
			require.NoError(t, err)
			created, err := s.Job(ctx, id)
			require.NoError(t, err)
			require.Equal(t, "CREATED", created.Status)
			d := e.next(t)
			require.Equal(t, []any{amqp.Transient, "application/json"}, []any{d.DeliveryMode, d.ContentType})
			req, key, err := message.Decode(d.Body, message.Properties{ReplyTo: d.ReplyTo, CorrelationID: d.CorrelationId, Received: time.Now()})
			require.NoError(t, err)
			require.Equal(t, []any{id, id, 2, job.Dataset, ds.ID, ds.ID, ds.Name}, []any{req.Key, req.JobID, req.APIVersion, req.Kind, req.ResourceID, req.DatasetID, req.Name})
			require.NotEmpty(t, req.ReplyTo)
			_, warnings, err := e.info.Parameters(req.Parameters)
			require.NoError(t, err)
			require.Empty(t, warnings)
			email, err := clienttest.New(t, clowder.Config{URL: at.url}).As(key).CheckKey(ctx)
			require.NoError(t, err)
			require.Equal(t, owner, email, "the key of a message acts as the user who submitted")
			requireTheSameAgain(t, s, e.queue, req, key)

			e.tell(t, req, tc.statuses...)
			require.Eventually(t, func() bool {
				got, err := s.Job(ctx, id)
				require.NoError(t, err)
				return got.Status == tc.want
			}, 10*time.Second, 50*time.Millisecond)
			updates, err := s.JobUpdates(ctx, id)
			require.NoError(t, err)
			var log []string
			for _, u := range updates {
				log = append(log, u.Text)
				require.WithinDuration(t, time.Now(), u.At, time.Minute)
			}
			require.Equal(t, tc.log, log)
		})
	}
	t.Run("a dataset that is gone cannot be submitted", func(t *testing.T) {
		_, err := s.Submit(ctx, missingID, e.queue, nil)
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
	})
}

// requireTheSameAgain rebuilds the message of the newest job and requires that it is the same request.
func requireTheSameAgain(t *testing.T, s *clowder.Session, extractor string, want job.Request, key job.Secret) {
	t.Helper()
	jobs, err := s.RecentJobs(t.Context(), extractor)
	require.NoError(t, err)
	require.NotEmpty(t, jobs)
	require.Equal(t, want.JobID, jobs[0].ID, "the newest comes first")
	body, err := jobs[0].Submission(want.Host, want.Name, key)
	require.NoError(t, err)
	again, sameKey, err := message.Decode(body, message.Properties{ReplyTo: want.ReplyTo, CorrelationID: want.CorrelationID, Received: want.Received})
	require.NoError(t, err)
	require.Equal(t, want, again)
	require.Equal(t, key.Reveal(), sameKey.Reveal())
}

// TestUploadsOfTheRealOneShowInFlight watches a big upload from a second connection.
func TestUploadsOfTheRealOneShowInFlight(t *testing.T) {
	at := realSite(t)
	ctx := t.Context()
	s := clienttest.New(t, clowder.Config{URL: at.url}).As(job.Secret(at.key))
	ds, err := s.CreateDataset(ctx, "in flight", "")
	require.NoError(t, err)
	folder, err := s.AddFolder(ctx, ds.ID, "", "f")
	require.NoError(t, err)
	const size = 200 << 20
	uploaded := make(chan error, 1)
	go func() {
		_, err := s.Upload(ctx, ds.ID, folder, zeros("big.bin", size))
		uploaded <- err
	}()
	var file clowder.File
	require.Eventually(t, func() bool {
		files, err := s.FolderFiles(ctx, ds.ID, folder)
		require.NoError(t, err)
		if len(files) == 1 && files[0].InFlight {
			file = files[0]
		}
		return len(files) == 1
	}, time.Minute, 20*time.Millisecond)
	t.Logf("seen in flight: %v", file.InFlight)
	require.NoError(t, <-uploaded)
	files, err := s.FolderFiles(ctx, ds.ID, folder)
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.False(t, files[0].InFlight)
	require.EqualValues(t, size, files[0].Size)
	require.NoError(t, s.DeleteFile(ctx, files[0].ID))
}
