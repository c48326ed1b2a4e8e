//go:build clowder2

package clowder2

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/stack"
)

// fixture is a Clowder v2, as alice uses it, and the service beside it. Session is alice's.
type fixture struct {
	testing.TB
	*stack.Fixture
	env map[string]string
}

// newRig reads RIG_ENV, a file of NAME=value lines with CLOWDER_URL, RABBITMQ_URI, ALICE_KEY, BOB_KEY and ADMIN_KEY, and CLOWDER_PAGE
// where Clowder's page is to be looked at.
func newRig(tb testing.TB) *fixture {
	tb.Helper()
	require.NotEmpty(tb, os.Getenv("RIG_ENV"), "set RIG_ENV to the file that describes a running Clowder v2")
	f := &fixture{TB: tb, Fixture: stack.NewFixtureWith(tb, stack.Program(tb), clowdertest.Options{}, nil), env: map[string]string{}}
	doc, err := os.ReadFile(os.Getenv("RIG_ENV"))
	require.NoError(tb, err)
	for line := range strings.Lines(string(doc)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		f.env[name] = value
	}
	f.Env["RABBITMQ_URI"], f.Env["CLOWDER_URL"] = f.env["RABBITMQ_URI"], f.env["CLOWDER_URL"]
	client, err := clowder.NewClient(clowder.Config{URL: f.env["CLOWDER_URL"]})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, client.Close()) })
	f.Session = client.As(job.Secret(f.env["ALICE_KEY"]))
	return f
}

// serve starts the service and returns once an administrator has enabled its extractors in Clowder.
func (f *fixture) serve(env map[string]string) *stack.Service {
	f.Helper()
	s := f.Serve(f, env)
	for _, name := range []string{stack.Extractor, stack.Advanced, stack.Predictor, stack.Manager} {
		f.enable(name)
	}
	return s
}

// enable waits until Clowder knows an extractor, and enables it.
func (f *fixture) enable(name string) {
	f.Helper()
	require.Eventually(f, func() bool {
		listener, ok := f.listener(name)
		if ok && !listener.Active {
			f.call("ADMIN_KEY", http.MethodPut, "/listeners/"+listener.ID+"/enable?enable_admin=true", nil, nil)
		}
		return ok
	}, stack.StepTimeout, 200*time.Millisecond, "Clowder does not register %s", name)
}

// listener is an extractor as an administrator sees it.
func (f *fixture) listener(name string) (clowder.Listener, bool) {
	f.Helper()
	var page struct{ Data []clowder.Listener }
	f.call("ADMIN_KEY", http.MethodGet, "/listeners?all=true&enable_admin=true&limit=200", nil, &page)
	i := slices.IndexFunc(page.Data, func(l clowder.Listener) bool { return l.Name == name })
	if i < 0 {
		return clowder.Listener{}, false
	}
	return page.Data[i], true
}

// dataset makes a dataset of alice with one table and returns the ids of both.
func (f *fixture) dataset(name string) (dataset, file string) {
	f.Helper()
	made, err := f.Session.CreateDataset(f.Context(), name, "d")
	require.NoError(f, err)
	return made.ID, f.upload(made.ID, "train.csv", "text,label\ngood,yes\nbad,no\n")
}

// upload adds a file of alice to the root of a dataset.
func (f *fixture) upload(dataset, name, body string) string {
	f.Helper()
	return f.uploadTo(dataset, "", name, body)
}

func (f *fixture) uploadTo(dataset, folder, name, body string) string {
	f.Helper()
	file, err := f.Session.Upload(f.Context(), dataset, folder, clowder.Body{
		Name: name, ContentType: "text/plain", Size: int64(len(body)), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil },
	})
	require.NoError(f, err)
	return file.ID
}

// call sends JSON with the key that a line of RIG_ENV holds, and decodes the answer.
func (f *fixture) call(key, method, path string, body, into any) {
	f.Helper()
	doc, err := json.Marshal(body)
	require.NoError(f, err)
	req, err := http.NewRequestWithContext(f.Context(), method, f.env["CLOWDER_URL"]+"/api/v2"+path, bytes.NewReader(doc))
	require.NoError(f, err)
	req.Header.Set("X-API-Key", f.env[key])
	req.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(req)
	require.NoError(f, err)
	text, err := io.ReadAll(answer.Body)
	require.NoError(f, err)
	require.NoError(f, answer.Body.Close())
	require.Less(f, answer.StatusCode, 300, "%s %s: %s", method, path, text)
	if into != nil {
		require.NoError(f, json.Unmarshal(text, into), "%s", text)
	}
}

// train submits a dataset with options, and returns how the job ended and its record.
func (f *fixture) train(dataset string, options map[string]any) (clowder.Job, job.Record) {
	f.Helper()
	before := len(f.Records(f))
	last, _ := f.AwaitJob(f, f.SubmitTo(f, stack.Advanced, dataset, options))
	return last, f.AwaitRecords(f, before+1)[before]
}

// inputs is the list of the files of a run.
func (f *fixture) inputs(record job.Record) string {
	f.Helper()
	doc, err := os.ReadFile(filepath.Join(f.Env["SHARED_DIR"], "runs", record.Run, "inputs.json"))
	require.NoError(f, err)
	return strings.ReplaceAll(string(doc), `": `, `":`)
}

// refused publishes a job by hand, as a program with a user's key does, and returns why the service ended it without a training.
func (f *fixture) refused(dataset, key string) string {
	f.Helper()
	before, trained := len(f.Records(f)), f.Trainings.Load()
	body, err := clowder.Job{ID: fmt.Sprintf("%024x", time.Now().UnixNano()), Resource: clowder.Resource{Collection: "datasets", ID: dataset}}.
		Submission(f.env["CLOWDER_URL"], "By hand", job.Secret(f.env[key]))
	require.NoError(f, err)
	conn, err := amqp.Dial(f.env["RABBITMQ_URI"])
	require.NoError(f, err)
	defer func() { require.NoError(f, conn.Close()) }()
	ch, err := conn.Channel()
	require.NoError(f, err)
	require.NoError(f, ch.PublishWithContext(f.Context(), "", stack.Extractor, true, false, amqp.Publishing{ContentType: "application/json", Body: body}))
	record := f.AwaitRecords(f, before+1)[before]
	require.Equal(f, job.Failed, record.State)
	require.Equal(f, trained, f.Trainings.Load())
	return record.Ending.Text
}
