package clowdertest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const alice = "alice@example.org"

func start(t *testing.T, opts clowdertest.Options) *clowdertest.Server {
	t.Helper()
	server, err := clowdertest.New(opts)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, server.Close())
		require.NoError(t, server.Close(), "a second close does nothing")
		http.DefaultClient.CloseIdleConnections()
	})
	return server
}

// get reads a path of the API as alice.
func get(t *testing.T, server *clowdertest.Server, path string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/v2"+path, nil)
	require.NoError(t, err)
	req.Header.Set("X-API-KEY", server.Key(alice))
	answer, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(body)
}

func status(job, text, start string) []byte {
	body, _ := json.Marshal(map[string]string{"job_id": job, "status": text, "start": start})
	return body
}

const at = "2026-11-21T05:03:41+00:00"

type summary struct {
	Status   string   `json:"status"`
	Message  *string  `json:"latest_message"`
	Duration *float64 `json:"duration"`
	Finished *string  `json:"finished"`
}

func jobOf(t *testing.T, server *clowdertest.Server, id string) (s summary) {
	t.Helper()
	code, body := get(t, server, "/jobs/"+id+"/summary")
	require.Equal(t, http.StatusOK, code)
	require.NoError(t, json.Unmarshal([]byte(body), &s))
	return s
}

func TestStatusesAreReadAsClowderReadsThem(t *testing.T) {
	t.Parallel()
	server := start(t, clowdertest.Options{})
	ds := server.AddDataset(alice, "d")
	for text, want := range map[string][2]string{
		"StatusMessage.start: go":                {"STARTED", "go"},
		"anything that ends Started processing.": {"STARTED", "anything that ends Started processing."},
		"ERROR: it ends Done processing.":        {"SUCCEEDED", "ERROR: it ends Done processing."},
		"StatusMessage.error: an ERROR: inside":  {"ERROR", "an inside"},
		"RESUBMITTED: again":                     {"RESUBMITTED", "again"},
		"StatusMessage.skip: no":                 {"SKIPPED", "no"},
		"StatusMessage.processing: 3 %":          {"PROCESSING", "3 %"},
		"StatusMessage.done: all":                {"SUCCEEDED", "all"},
		"CANCELLED: x":                           {"CREATED", ""},
		"no prefix":                              {"CREATED", ""},
		"StatusMessage.error:no blank":           {"CREATED", ""},
	} {
		id := server.AddJob(alice, ds, "x")
		err := server.Status(status(id, text, at))
		got := jobOf(t, server, id)
		require.Equal(t, want[0], got.Status, text)
		require.Equal(t, want[0] == "CREATED", err != nil, text)
		if want[1] != "" {
			require.Equal(t, want[1], *got.Message, text)
		}
	}
}

func TestStatusTimes(t *testing.T) {
	t.Parallel()
	server := start(t, clowdertest.Options{})
	ds := server.AddDataset(alice, "d")
	for start, ok := range map[string]bool{
		at: true, "2026-11-21T05:03:41Z": true, "2026-11-21T05:03:41+0000": true, "2026-11-21T05:03:41-05:00": true, "2026-11-21T05:03:41+00:00:00": true,
		"2026-11-21T05:03:41.5+00:00": false, "2026-11-21T05:03:41": false, "2026-11-21 05:03:41+00:00": false, "": false,
	} {
		err := server.Status(status(server.AddJob(alice, ds, "x"), "ERROR: x", start))
		require.Equal(t, ok, err == nil, start)
	}
	require.Error(t, server.Status(status("nobody", "ERROR: x", at)))
	require.Error(t, server.Status([]byte("{}")))
	require.Error(t, server.Status([]byte("[")))
}

func TestFirstTerminalStatusFreezesTheJobAndNotItsMessage(t *testing.T) {
	t.Parallel()
	server := start(t, clowdertest.Options{})
	id := server.AddJob(alice, server.AddDataset(alice, "d"), "x")
	require.NoError(t, server.Status(status(id, "StatusMessage.processing: early", at)))
	require.Nil(t, jobOf(t, server, id).Duration, "no duration before a start")
	require.NoError(t, server.Status(status(id, "StatusMessage.start: go", at)))
	require.Zero(t, *jobOf(t, server, id).Duration)
	require.NoError(t, server.Status(status(id, "StatusMessage.done: all", "2026-11-21T05:04:41+00:00")))
	require.NoError(t, server.Status(status(id, "StatusMessage.processing: late", "2026-11-21T05:05:41+00:00")))
	got := jobOf(t, server, id)
	require.Equal(t, "SUCCEEDED", got.Status)
	require.Equal(t, "late", *got.Message)
	require.InDelta(t, 120, *got.Duration, 0.1)
	_, log := get(t, server, "/jobs/"+id+"/updates")
	require.Equal(t, 4, strings.Count(log, `"job_id"`))
}

func TestStatusesThatComeTogetherMayLoseTheirOrder(t *testing.T) {
	t.Parallel()
	server := start(t, clowdertest.Options{LoseOrder: true})
	ds := server.AddDataset(alice, "d")
	wrong := 0
	for range 30 {
		id := server.AddJob(alice, ds, "x")
		var both sync.WaitGroup
		both.Go(func() { _ = server.Status(status(id, "StatusMessage.processing: 99 %", at)) })
		both.Go(func() { _ = server.Status(status(id, "StatusMessage.done: all", at)) })
		both.Wait()
		if jobOf(t, server, id).Status != "SUCCEEDED" {
			wrong++
		}
	}
	require.Positive(t, wrong)
}

func TestHeartbeatsThatClowderDropsAreDropped(t *testing.T) {
	t.Parallel()
	server := start(t, clowdertest.Options{})
	for info, ok := range map[string]bool{
		`{"name":"a","version":"1.0"}`: true, `{"name":"b","version":2}`: true, `{"name":"c","version":null}`: false, `{"name":"d","author":{}}`: false,
		`{"name":"e","contexts":[[]]}`: false, `{"name":"f","contexts":["x"]}`: false, `{"name":"g","contexts":["http://x.org"]}`: true, `{"name":"h","repository":{}}`: false,
		`{"name":"i","bibtex":[{}]}`: false, `{"name":"j","process":[]}`: false, `{"name":"k","id":"1"}`: false, `{}`: false, `{"name":"l","anything":1}`: true,
	} {
		require.Equal(t, ok, server.Heartbeat(fmt.Appendf(nil, `{"id":"1","queue":"q","owner":"","extractor_info":%s}`, info)) == nil, info)
	}
	describe := []byte(`{"queue":"z","extractor_info":{"name":"z","version":"1.2.3-5-gabc"}}`)
	require.NoError(t, server.Heartbeat(describe))
	require.Error(t, server.Heartbeat(describe), "the version is parsed from the second heartbeat on")
	_, body := get(t, server, "/listeners?all=true")
	require.Contains(t, body, `"total_count":5`)
	require.Equal(t, 2, strings.Count(body, `"lastAlive"`), "two per page by default")
	_, body = get(t, server, "/listeners")
	require.Contains(t, body, `"total_count":0`, "users see an extractor after an administrator has enabled it")
}

func TestQuirksOfTheInterface(t *testing.T) {
	t.Parallel()
	server := start(t, clowdertest.Options{})
	ds := server.AddDataset(alice, "d")
	for path, want := range map[string]int{
		"/datasets/xyz": 500, "/datasets/" + strings.Repeat("0", 24): 404, "/datasets/" + ds + "/files?limit=x": 422, "/datasets/" + ds + "/": 200,
		"/jobs/" + strings.Repeat("0", 24): 404, "/nothing": 404, "/files/" + strings.Repeat("0", 24): 404,
	} {
		code, _ := get(t, server, path)
		require.Equal(t, want, code, path)
	}
	for range 12 {
		_, err := server.AddFile(ds, "a.csv", strings.NewReader("x"))
		require.NoError(t, err)
	}
	_, body := get(t, server, "/datasets/"+ds+"/files")
	require.Equal(t, 10, strings.Count(body, `"version_id"`))
	require.Contains(t, body, `"total_count":12`)
	server.RevokeKey(server.Key(alice))
	code, body := get(t, server, "/datasets/"+ds)
	require.Equal(t, 401, code)
	require.JSONEq(t, `{"detail":"Not authenticated."}`, body)
}
