//go:build integration

// Package service looks at the service from outside, as a process: what it does with bad input, with signals and with
// settings that cannot work. RabbitMQ is a real one; Clowder is the double, Ray the double that plays a training.
package service

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/internal/clowder/clienttest"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/broker"
	"github.com/ncsa/clowder-ray/test/stack"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(broker.Main(m)) }

func table() map[string]string {
	return map[string]string{"train.csv": "text,label\ngood,yes\nbad,no\n"}
}

// channel speaks to the broker as Clowder does.
func channel(t *testing.T, w *stack.Fixture) *amqp.Channel {
	t.Helper()
	conn, err := amqp.Dial(w.Env["RABBITMQ_URI"])
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	ch, err := conn.Channel()
	require.NoError(t, err)
	return ch
}

func TestBadInputEndsInOneSentenceAndTheNextJobIsServed(t *testing.T) {
	t.Parallel()
	w := stack.NewFixture(t, stack.Program(t), table())
	empty := w.Clowder.AddDataset(stack.User, "Empty")
	w.Start(t, nil)
	for _, tc := range []struct {
		name, dataset string
		parameters    map[string]any
		fault         *clowdertest.Fault
		want          string
	}{
		{name: "an unknown task", parameters: map[string]any{"task": "poetry"}, want: "task"},
		{name: "a number out of its range", parameters: map[string]any{"epochs": -3}, want: "epochs"},
		{name: "a text for a number", parameters: map[string]any{"batch_size": "many"}, want: "batch_size"},
		{name: "an empty dataset", dataset: empty, want: "The dataset is empty: add a CSV"},
		{name: "a file that vanishes", fault: &clowdertest.Fault{Method: http.MethodGet, Path: "/files/", Status: http.StatusNotFound}, want: "train.csv"},
		{name: "a right that is missing", fault: &clowdertest.Fault{Method: http.MethodGet, Path: "/datasets/", Status: http.StatusForbidden}, want: "403"},
	} {
		dataset := w.Dataset
		if tc.dataset != "" {
			dataset = tc.dataset
		}
		if tc.fault != nil {
			w.Clowder.Fail(*tc.fault)
		}
		id := w.Submit(t, dataset, tc.parameters)
		last, _ := w.AwaitJob(t, id)
		w.Clowder.ClearFaults()
		require.Equal(t, "ERROR", last.Status, tc.name)
		require.Contains(t, last.Message, tc.want, tc.name)
	}
	files, err := w.Session.Files(t.Context(), w.Dataset)
	require.NoError(t, err)
	require.Len(t, files, 1, "nothing is left half-uploaded")

	last, _ := w.AwaitJob(t, w.Submit(t, w.Dataset, nil))
	require.Equal(t, "SUCCEEDED", last.Status)
}

func TestTheLongFormReachesTheTrainer(t *testing.T) {
	t.Parallel()
	w := stack.NewFixture(t, stack.Program(t), table())
	w.Start(t, nil)
	form := map[string]any{"epochs": 5, "training": map[string]any{"weight_decay": 0.5, "optimizer": "adamw"}}
	last, updates := w.AwaitJob(t, w.SubmitTo(t, stack.Advanced, w.Dataset, form))
	require.Equal(t, "SUCCEEDED", last.Status, "%v", updates)
	doc, err := os.ReadFile(filepath.Join(w.Env["SHARED_DIR"], "runs", w.AwaitRecords(t, 1)[0].Run, "spec.json"))
	require.NoError(t, err)
	var spec struct {
		Settings map[string]any
		Sources  map[string]string
	}
	require.NoError(t, json.Unmarshal(doc, &spec))
	require.Equal(t, []any{5.0, "form", 0.5, "form"}, []any{spec.Settings["epochs"], spec.Sources["epochs"], spec.Settings["weight_decay"], spec.Sources["weight_decay"]})
}

func TestAModelIsTrainedAndPredictsLater(t *testing.T) {
	t.Parallel()
	w := stack.NewFixture(t, stack.Program(t), map[string]string{"train.csv": "text,label\ngood,yes\nbad,no\n", "wren.png": "not really"})
	w.Start(t, nil)
	last, _ := w.AwaitJob(t, w.SubmitTo(t, stack.Predictor, w.Dataset, nil))
	require.Equal(t, "ERROR", last.Status)
	require.Contains(t, last.Message, "This dataset has no model yet")

	last, updates := w.AwaitJob(t, w.Submit(t, w.Dataset, map[string]any{"dry_run": true}))
	require.Equal(t, "SUCCEEDED", last.Status, "%v", updates)
	require.Contains(t, last.Message, "Results in folder finetune/")

	last, updates = w.AwaitJob(t, w.Submit(t, w.Dataset, nil))
	require.Equal(t, "SUCCEEDED", last.Status, "%v", updates)

	last, updates = w.AwaitJob(t, w.SubmitTo(t, stack.Predictor, w.Dataset, map[string]any{"model": "Reviews@champion", "write": "both"}))
	require.Equal(t, "SUCCEEDED", last.Status, "%v", updates)
	notes, err := w.Session.Metadata(t.Context(), w.Dataset)
	require.NoError(t, err)
	listeners := map[string]int{}
	for _, n := range notes {
		listeners[n.Listener]++
	}
	require.Equal(t, 1, listeners[stack.Predictor], "each extractor speaks under its own name: %v", listeners)
	files, err := w.Session.Files(t.Context(), w.Dataset)
	require.NoError(t, err)
	for _, f := range files {
		if f.Path != "wren.png" {
			continue
		}
		entries, err := clienttest.FileMetadata(t.Context(), w.Session, f.ID)
		require.NoError(t, err)
		require.Len(t, entries, 1)
		require.Equal(t, "wren", entries[0].Content["predicted"])
	}
	extractors := map[string]int{}
	for _, r := range w.AwaitRecords(t, 4) {
		extractors[r.Request.Extractor]++
	}
	require.Equal(t, map[string]int{stack.Extractor: 2, stack.Predictor: 2}, extractors)
}

func TestAMessageThatIsNoJobGoesToTheErrorQueue(t *testing.T) {
	t.Parallel()
	w := stack.NewFixture(t, stack.Program(t), table())
	w.Start(t, nil)
	ch := channel(t, w)
	reply, err := ch.QueueDeclare("", false, true, true, false, nil)
	require.NoError(t, err)
	const jobID = "6740aaaaaaaaaaaaaaaaaaaa"
	for name, tc := range map[string]struct {
		body  string
		heard bool // the message says which job it is, so its user hears of it
	}{
		"no JSON":            {`{"host":`, false},
		"another type":       {`[1,2,3]`, false},
		"no UTF-8":           {"\xff\xfe\x00", false},
		"wrong types inside": {`{"job_id":"` + jobID + `","secretKey":7,"id":{}}`, true},
		"no key":             {`{"job_id":"` + jobID + `","host":"http://x","id":"` + jobID + `","datasetId":"` + jobID + `","resource_type":"dataset"}`, true},
	} {
		err := ch.PublishWithContext(t.Context(), "", stack.Extractor, true, false, amqp.Publishing{
			ContentType: "application/json", Body: []byte(tc.body), ReplyTo: reply.Name, CorrelationId: "c-" + name,
		})
		require.NoError(t, err)
		var failed amqp.Delivery
		require.Eventually(t, func() bool {
			var ok bool
			failed, ok, err = ch.Get("error."+stack.Extractor, true)
			return err == nil && ok
		}, stack.StepTimeout, 10*time.Millisecond, name)
		require.Equal(t, tc.body, string(failed.Body), name)
		require.NotEmpty(t, failed.Headers["x-extractor-error"], name)
		require.Equal(t, "c-"+name, failed.CorrelationId)
		if !tc.heard {
			continue
		}
		var status amqp.Delivery
		require.Eventually(t, func() bool {
			var ok bool
			status, ok, err = ch.Get(reply.Name, true)
			return err == nil && ok
		}, stack.StepTimeout, 10*time.Millisecond, name)
		var said struct{ Status string }
		require.NoError(t, json.Unmarshal(status.Body, &said))
		require.Contains(t, said.Status, "StatusMessage.error: ", name)
	}
	last, _ := w.AwaitJob(t, w.Submit(t, w.Dataset, nil))
	require.Equal(t, "SUCCEEDED", last.Status, "the next job is served")
}

func TestSIGTERMEndsTheServiceAndNotTheTraining(t *testing.T) {
	t.Parallel()
	w := stack.NewFixture(t, stack.Program(t), table())
	release := w.HoldTrainings()
	first := w.Start(t, nil)
	id := w.Submit(t, w.Dataset, nil)
	require.Eventually(t, func() bool { return w.Trainings.Load() == 1 }, stack.StepTimeout, 10*time.Millisecond)
	require.NoError(t, first.Stop(30*time.Second))
	require.Zero(t, first.ExitCode())
	release()
	w.Start(t, nil)
	last, _ := w.AwaitJob(t, id)
	require.Equal(t, "SUCCEEDED", last.Status)
	require.EqualValues(t, 1, w.Trainings.Load(), "the training was found again")
}

func TestASecondDeliveryOfAJobIsAcknowledgedAndNotRunAgain(t *testing.T) {
	t.Parallel()
	w := stack.NewFixture(t, stack.Program(t), table())
	w.Start(t, nil)
	ch := channel(t, w)
	id := w.Submit(t, w.Dataset, nil)
	last, _ := w.AwaitJob(t, id)
	require.Equal(t, "SUCCEEDED", last.Status)
	body, err := json.Marshal(map[string]any{
		"host": w.Clowder.URL, "secretKey": w.Clowder.Key(stack.User), "retry_count": 0, "resource_type": "dataset", "flags": "",
		"datasetName": "Reviews", "id": w.Dataset, "datasetId": w.Dataset, "job_id": id, "parameters": nil,
	})
	require.NoError(t, err)
	require.NoError(t, ch.PublishWithContext(t.Context(), "", stack.Extractor, true, false, amqp.Publishing{Body: body}))
	require.Eventually(t, func() bool {
		q, err := ch.QueueDeclarePassive(stack.Extractor, true, false, false, false, nil)
		return err == nil && q.Messages == 0
	}, stack.StepTimeout, 10*time.Millisecond)
	require.Len(t, w.AwaitRecords(t, 1), 1)
	require.EqualValues(t, 1, w.Trainings.Load())
}

func TestSettingsThatCannotWorkEndTheServiceWithOneLine(t *testing.T) {
	t.Parallel()
	program := stack.Program(t)
	w := stack.NewFixture(t, program, nil)
	for name, tc := range map[string]struct {
		env  map[string]string
		want string
	}{
		"a wrong password":        {map[string]string{"RABBITMQ_URI": strings.Replace(w.Env["RABBITMQ_URI"], "guest:guest", "guest:wrong", 1)}, "RABBITMQ_URI"},
		"a virtual host too many": {map[string]string{"RABBITMQ_URI": w.Env["RABBITMQ_URI"] + "-not-there"}, "RABBITMQ_URI"},
		"no address at all":       {map[string]string{"CLOWDER_URL": "clowder"}, "CLOWDER_URL"},
		"a private key alone":     {map[string]string{"EXTRACTOR_KEY": "k"}, "CLOWDER_EMAIL"},
		"no Ray":                  {map[string]string{"RAY_ADDRESS": ""}, "RAY_ADDRESS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{}
			maps.Copy(env, w.Env)
			maps.Copy(env, tc.env)
			dir := t.TempDir()
			env["STATE_DIR"], env["SHARED_DIR"] = filepath.Join(dir, "state"), filepath.Join(dir, "shared")
			s, err := stack.StartService(t.Context(), program, env, nil)
			require.NoError(t, err)
			defer s.Kill()
			select {
			case <-s.Exited():
			case <-time.After(stack.StepTimeout):
				t.Fatalf("it is still running\n%s", s.Log())
			}
			require.NotZero(t, s.ExitCode())
			lines := strings.Split(strings.TrimSpace(s.Log()), "\n")
			require.Contains(t, lines[len(lines)-1], tc.want)
			require.NotContains(t, s.Log(), "guest:guest", "no password in the log")
		})
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	w := stack.NewFixture(t, stack.Program(t), table())
	s := w.Start(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), stack.StepTimeout)
	defer cancel()
	require.NoError(t, s.AwaitReady(ctx))
	last, _ := w.AwaitJob(t, w.Submit(t, w.Dataset, nil))
	require.Equal(t, "SUCCEEDED", last.Status)
	w.AwaitRecords(t, 1)
	for path, want := range map[string]string{
		"/livez": "ok", "/readyz": "ok", "/metrics": `clowder_ray_pipeline_jobs_total{state="done"} 1`,
	} {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Health()+path, nil)
		require.NoError(t, err)
		answer, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Contains(t, string(body), want)
	}
	http.DefaultClient.CloseIdleConnections()
	info, err := os.Stat(filepath.Join(w.Env["STATE_DIR"], "jobs.db"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.Equal(t, job.Done, w.AwaitRecords(t, 1)[0].State)
}
