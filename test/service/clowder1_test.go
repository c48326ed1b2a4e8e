//go:build integration

package service

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/stack"
)

// replies declares a queue like the one in which a Clowder v1 reads statuses.
func replies(t *testing.T, ch *amqp.Channel) (name string, statuses <-chan amqp.Delivery) {
	t.Helper()
	q, err := ch.QueueDeclare("clowder."+uuid.NewString()[:10], true, false, false, false, nil)
	require.NoError(t, err)
	statuses, err = ch.Consume(q.Name, "", true, false, false, false, nil)
	require.NoError(t, err)
	return q.Name, statuses
}

// of1 is a message of Clowder v1 about a dataset, with more fields.
func of1(fields string) []byte {
	dataset := uuid.NewString()
	return fmt.Appendf(nil, `{"jobid":%q,"msgid":%q,"id":%q,"datasetId":%[3]q,"host":"http://clowder1","secretKey":"k","fileSize":"0","notifies":[],"flags":"",%s}`,
		uuid.NewString(), uuid.NewString(), dataset, fields)
}

// awaitStatus returns the next status.
func awaitStatus(t *testing.T, statuses <-chan amqp.Delivery) (body map[string]string) {
	t.Helper()
	select {
	case d := <-statuses:
		require.NoError(t, json.Unmarshal(d.Body, &body))
	case <-time.After(stack.StepTimeout):
		require.Fail(t, "no status came")
	}
	return body
}

func TestAnEventOfClowder1StartsNothing(t *testing.T) {
	t.Parallel()
	w := stack.NewFixture(t, stack.Program(t), table())
	w.Start(t, nil)
	ch := channel(t, w)
	queue, statuses := replies(t, ch)
	for _, fields := range []string{
		`"activity":"added","routing_key":"clowder.dataset.file.added"`, `"activity":"removed","routing_key":"clowder.dataset.file.removed"`,
		`"activity":"added","routing_key":"clowder.metadata.added.dataset","metadata":{}`,
	} {
		require.NoError(t, ch.PublishWithContext(t.Context(), "", stack.Extractor, true, false, amqp.Publishing{ReplyTo: queue, Body: of1(fields)}))
		said, end := awaitStatus(t, statuses), awaitStatus(t, statuses)
		require.Contains(t, said["status"], "StatusMessage.processing: Skipped: A change in Clowder starts no job")
		require.Contains(t, end["status"], "StatusMessage.done: ")
		require.Equal(t, []string{stack.Extractor, said["file_id"], said["job_id"]}, []string{end["extractor_id"], end["file_id"], end["job_id"]})
	}
	last, _ := w.AwaitJob(t, w.Submit(t, w.Dataset, nil))
	require.Equal(t, "SUCCEEDED", last.Status, "a submission is served")
	require.Len(t, w.Records(t), 1)
}

// TestAMessageAfterACancellationOfClowder1 sends what v1 makes of the messages ahead of the one that it takes out of the queue: the same
// bodies without reply_to and correlation_id.
func TestAMessageAfterACancellationOfClowder1(t *testing.T) {
	t.Parallel()
	w := stack.NewFixture(t, stack.Program(t), table())
	w.Start(t, nil)
	ch := channel(t, w)
	queue, statuses := replies(t, ch)
	const submitted = `"routing_key":"extractors.ncsa.ray.finetune","parameters":"{}","action":"manual-submission"`
	for i, replyTo := range []string{queue, ""} {
		body := of1(submitted)
		var sent map[string]any
		require.NoError(t, json.Unmarshal(body, &sent))
		require.NoError(t, ch.PublishWithContext(t.Context(), "", stack.Extractor, true, false, amqp.Publishing{ReplyTo: replyTo, Body: body}))
		start := awaitStatus(t, statuses)
		require.Equal(t, sent["jobid"], start["job_id"])
		require.Contains(t, start["status"], "To stop the job, submit the dataset to "+stack.Manager)
		require.Contains(t, awaitStatus(t, statuses)["status"], "StatusMessage.error: ", "nobody serves such a Clowder here")
		rec := w.AwaitRecords(t, i+1)[i]
		require.Equal(t, 1, rec.Request.APIVersion)
		require.Equal(t, job.Failed, rec.State)
	}
	last, _ := w.AwaitJob(t, w.Submit(t, w.Dataset, nil))
	require.Equal(t, "SUCCEEDED", last.Status, "the next job is served")
}

func TestJobsOfBothVersionsAreAnsweredInTheirOwnWords(t *testing.T) {
	t.Parallel()
	const each = 10
	w := stack.NewFixture(t, stack.Program(t), table())
	one := w.AddClowder1(t, table())
	w.Start(t, nil)
	var first, second []string
	for range each {
		first = append(first, one.Submit(t, stack.Extractor))
		second = append(second, w.Submit(t, w.Dataset, nil))
	}
	for i := range each {
		lines := one.AwaitEnd(t, first[i])
		require.Equal(t, "DONE", lines[len(lines)-1], "%q", lines)
		require.Equal(t, 1, strings.Count(strings.Join(lines, "\n"), "DONE"), "%q", lines)
		require.Contains(t, lines[len(lines)-2], "Results in folder finetune/", "the result is said before the end")
		last, updates := w.AwaitJob(t, second[i])
		require.Equal(t, "SUCCEEDED", last.Status, "%v", updates)
		require.Contains(t, last.Message, "Results in folder finetune/")
	}
	require.EqualValues(t, 2*each, w.Trainings.Load())
	jobs := map[int]int{}
	for _, rec := range w.AwaitRecords(t, 2*each) {
		jobs[rec.Request.APIVersion]++
	}
	require.Equal(t, map[int]int{1: each, 2: each}, jobs)
}
