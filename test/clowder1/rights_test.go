//go:build clowder1

package clowder1

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/stack"
)

// TestClowder1Rights submits what a user may not do, what programs send, and the same message twice.
func TestClowder1Rights(t *testing.T) {
	r := newRig(t)
	s := r.serve(map[string]string{"HEARTBEAT": "1s"})
	r.testViewer()
	r.testLicence()
	r.testMessagesOfPrograms()
	r.testDeletedInThePage()
	require.NoError(t, s.Stop(30*time.Second))
	require.NotContains(t, s.Log(), r.env["BOB_KEY"])
}

// shared puts a dataset into a space in which bob has a role.
func (f *fixture) shared(dataset, role string) {
	f.Helper()
	var space, bob struct{ ID string }
	f.call(http.MethodPost, "/api/spaces", map[string]string{"name": "With a " + role, "description": "d"}, &space)
	f.callAs(f.env["BOB_KEY"], http.MethodGet, "/api/me", nil, &bob)
	f.call(http.MethodPost, "/api/spaces/"+space.ID+"/addDatasetToSpace/"+dataset, nil, nil)
	f.call(http.MethodPost, "/api/spaces/"+space.ID+"/updateUsers", map[string]any{"rolesandusers": map[string]string{role: bob.ID}}, nil)
}

// testViewer publishes what Clowder's own route refuses: a dataset that bob may only view. Of an editor the same is served.
func (f *fixture) testViewer() {
	for role, state := range map[string]job.State{"Viewer": job.Failed, "Editor": job.Done} {
		dataset, _ := f.dataset("For a " + role)
		f.shared(dataset, role)
		before, trained := len(f.Records(f)), f.Trainings.Load()
		f.publish(f.message(dataset, f.env["BOB_KEY"], `"parameters":"{}",`))
		record := f.AwaitRecords(f, before+1)[before]
		require.Equal(f, state, record.State, record.LastError)
		if state == job.Failed {
			require.Contains(f, record.Ending.Text, "you may view this dataset but not add files to it")
			require.Equal(f, trained, f.Trainings.Load())
		}
	}
}

// testLicence submits, as bob, a dataset with a file that its licence lets nobody download. Clowder asks the licence of visitors only: who may
// download files, and has a key, gets it.
func (f *fixture) testLicence() {
	dataset, train := f.dataset("Licensed")
	f.shared(dataset, "Editor")
	f.call(http.MethodPost, "/api/files/"+train+"/license", map[string]string{
		"licenseType": "license1", "rightsHolder": "Nobody Else", "licenseText": "All rights reserved", "licenseUrl": "", "allowDownload": "false",
	}, nil)
	before := len(f.Records(f))
	f.publish(f.message(dataset, f.env["BOB_KEY"], ""))
	record := f.AwaitRecords(f, before+1)[before]
	require.Equal(f, job.Done, record.State, record.LastError)
}

// testMessagesOfPrograms publishes a message without settings, twice, as a broker does that did not hear of the acknowledgement.
func (f *fixture) testMessagesOfPrograms() {
	dataset, _ := f.dataset("Of a program")
	before, trained := len(f.Records(f)), f.Trainings.Load()
	body := f.message(dataset, f.key, "")
	f.publish(body)
	f.publish(body)
	lines := f.awaitLine("/datasets/"+dataset, "DONE", 1)
	require.Equal(f, 1, count(lines, "No settings came with this job"), "%q", lines)
	f.publish(body)
	f.submit("datasets", dataset, stack.Manager, map[string]any{"action": "list"})
	f.awaitLine("/datasets/"+dataset, "DONE", 2)
	f.AwaitRecords(f, before+2)
	require.Equal(f, trained+1, f.Trainings.Load(), "one message trains once")
	f.submit("datasets", dataset, stack.Extractor, nil)
	f.awaitLine("/datasets/"+dataset, "DONE", 3)
	require.Equal(f, trained+2, f.Trainings.Load(), "a person may ask again")
}

// testDeletedInThePage deletes an extractor, as an administrator does, and expects it back with the next heartbeat.
func (f *fixture) testDeletedInThePage() {
	f.callAs(f.env["ADMIN_KEY"], http.MethodDelete, "/api/extractions/"+stack.Manager+"/delete?superAdmin=true", nil, nil)
	require.Eventually(f, func() bool {
		_, status := f.do(http.MethodGet, "/api/extractors/"+stack.Manager, "", nil)
		return status == http.StatusOK
	}, stack.StepTimeout, 100*time.Millisecond)
}

// message is what Clowder publishes for a submission by the user of a key, with more fields.
func (f *fixture) message(dataset, key, fields string) []byte {
	f.Helper()
	id := func() string {
		return strings.ReplaceAll(time.Now().UTC().Format("20060102150405.000000000"), ".", "0")
	}
	return []byte(`{"notifies":[],"source":{"id":{"resourceType":"'dataset","id":"` + dataset + `"},"extra":{}},"jobid":"` + id() + `","msgid":"` + id() +
		`","flags":"","intermediateId":"` + dataset + `","host":"` + f.url + `","datasetId":"` + dataset + `","id":"` + dataset + `","datasetname":"By hand","fileSize":"0",` +
		`"target":"{}","secretKey":"` + key + `","activity":"submitted","routing_key":"extractors.` + stack.Extractor + `",` + fields + `"action":"manual-submission"}`)
}

// publish puts a message into the queue of the training extractor, with Clowder's own queue of statuses as the one for its answers.
func (f *fixture) publish(body []byte) {
	f.Helper()
	var status struct{ Instance string }
	answer, _ := f.do(http.MethodGet, "/api/status", "", nil)
	require.NoError(f, json.Unmarshal([]byte(answer), &status), answer)
	conn, err := amqp.Dial(f.Env["RABBITMQ_URI"])
	require.NoError(f, err)
	defer func() { require.NoError(f, conn.Close()) }()
	ch, err := conn.Channel()
	require.NoError(f, err)
	require.NoError(f, ch.PublishWithContext(f.Context(), "", stack.Extractor, true, false, amqp.Publishing{
		ContentType: "application/json", ReplyTo: "clowder." + status.Instance, Body: body,
	}))
}

// TestClowder1FilesThatAreDeleted deletes a file between its listing and its download: a job does without it unless its form names it.
func TestClowder1FilesThatAreDeleted(t *testing.T) {
	r := newRig(t)
	base, err := url.Parse(r.url)
	require.NoError(t, err)
	var gone sync.Map // ids of files that are deleted before they are downloaded
	proxy := httputil.NewSingleHostReverseProxy(base)
	proxy.Transport = &http.Transport{DisableCompression: true}
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if id := path.Base(req.URL.Path); path.Dir(req.URL.Path) == "/api/files" && req.Method == http.MethodGet {
			if _, asked := gone.LoadAndDelete(id); asked {
				if err := r.session(r.key).DeleteFile(t.Context(), id); err != nil {
					t.Error(err)
				}
			}
		}
		proxy.ServeHTTP(w, req)
	}))
	t.Cleanup(between.Close)
	s := r.serve(map[string]string{"CLOWDER_URL": between.URL})
	dataset, _ := r.dataset("Tidied up")
	file := r.put(r.key, dataset, "", "gone.csv")
	gone.Store(file, true)
	record, lines := r.train(dataset, nil)
	require.Equal(t, job.Done, record.State, "%q", lines)
	require.Equal(t, 1, count(lines, "gone.csv"), "%q", lines)
	require.Len(t, r.inputs(record), 1)

	file = r.put(r.key, dataset, "", "named.csv")
	gone.Store(file, true)
	record, lines = r.fail(dataset, map[string]any{"test_file": file})
	require.Contains(t, record.Ending.Text, "named.csv", "%q", lines)
	require.NoError(t, s.Stop(30*time.Second))
}
