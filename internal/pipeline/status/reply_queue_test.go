package status

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/ncsa/clowder-ray/internal/clowder/message"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform/platformtest"
	"github.com/ncsa/clowder-ray/internal/queue"
)

// fixedBroker gives the same answer to every message.
type fixedBroker struct {
	answer error
	sent   []queue.Message
}

func (b *fixedBroker) Publish(_ context.Context, m queue.Message) error {
	b.sent = append(b.sent, m)
	return b.answer
}

func TestAStatusGoesToTheQueueThatTheMessageNamed(t *testing.T) {
	t.Parallel()
	away := job.Retryable(errors.New("the broker is away"))
	for name, tc := range map[string]struct {
		replyTo string
		answer  error
		sent    int
		want    error
		warned  int
	}{
		"a queue that is there":  {"replies", nil, 1, nil, 0},
		"no queue was named":     {"", nil, 0, nil, 0},
		"no queue and no broker": {"", away, 0, nil, 0},
		"the queue is gone":      {"replies", job.Permanent(fmt.Errorf("publish: %w", queue.ErrUnroutable)), 1, nil, 1},
		"the broker is away":     {"replies", away, 1, away, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broker := &fixedBroker{answer: tc.answer}
			core, logs := observer.New(zap.WarnLevel)
			q := NewReplyQueue(broker, platformtest.Extractors(t), zap.New(core))
			err := q.Publish(t.Context(), job.Request{JobID: "6740", ReplyTo: tc.replyTo, CorrelationID: "c1"}, done())
			require.Equal(t, tc.want, err)
			require.Len(t, broker.sent, tc.sent)
			require.Equal(t, tc.warned, logs.Len(), "a status that nobody reads is not lost silently")
			if tc.warned > 0 {
				require.Equal(t, map[string]any{"job_id": "6740", "queue": "replies"}, logs.All()[0].ContextMap())
			}
		})
	}
}

func TestAStatusCarriesTheNameOfItsExtractor(t *testing.T) {
	t.Parallel()
	extractors := platformtest.Extractors(t)
	extractors[2].Queue = "renamed.predict"
	for name, tc := range map[string]struct{ extractor, want string }{
		"the one that trains":     {extractors[0].Info.Name, extractors[0].Info.Name},
		"one with another queue":  {extractors[2].Info.Name, "renamed.predict"},
		"one that is not named":   {"", extractors[0].Info.Name},
		"one that is not offered": {"ncsa.unknown", extractors[0].Info.Name},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broker := &fixedBroker{}
			req := job.Request{JobID: "6740", ResourceID: "ds1", ReplyTo: "replies", CorrelationID: "c1", Extractor: tc.extractor}
			hostile := "Done\n\x00<b>\u202e" + strings.Repeat("x", 5000)
			at := time.Date(2026, 11, 21, 5, 3, 41, 0, time.UTC)
			require.NoError(t, NewReplyQueue(broker, extractors, zap.NewNop()).Publish(t.Context(), req, message.Status{Kind: message.StatusDone, Text: hostile, At: at}))
			sent := broker.sent[0]
			require.Equal(t, []string{"replies", "c1"}, []string{sent.RoutingKey, sent.CorrelationID})
			require.Less(t, len(sent.Body), 2000, "the text of a status is short")
			var body map[string]string
			require.NoError(t, json.Unmarshal(sent.Body, &body))
			require.Equal(t, tc.want, body["extractor_id"])
			require.Equal(t, "6740", body["job_id"])
			require.Equal(t, "ds1", body["file_id"])
			require.Equal(t, "2026-11-21T05:03:41+00:00", body["start"])
			require.Equal(t, "StatusMessage.done", body["message_type"])
			require.NotContains(t, body["message"], "\n")
			require.NotContains(t, body["message"], "\x00")
			require.NotContains(t, body["message"], "\u202e")
		})
	}
}
