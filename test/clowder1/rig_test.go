//go:build clowder1

package clowder1

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/clowder/form"
	v1 "github.com/ncsa/clowder-ray/internal/clowder/v1"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/stack"
)

// fixture is a Clowder v1, as alice uses it, and the service beside it.
type fixture struct {
	testing.TB
	*stack.Fixture
	url, key string
	env      map[string]string
	// browser and admin are those of alice and of an administrator.
	browser, admin *http.Client
}

// newRig reads RIG_ENV, a file of NAME=value lines with CLOWDER_URL, RABBITMQ_URI, ALICE_KEY, BOB_KEY, ADMIN_KEY and, unless they are "password",
// ALICE_PASSWORD and ADMIN_PASSWORD.
func newRig(tb testing.TB) *fixture {
	tb.Helper()
	require.NotEmpty(tb, os.Getenv("RIG_ENV"), "set RIG_ENV to the file that describes a running Clowder v1")
	env := readEnv(tb, "RIG_ENV")
	r := &fixture{TB: tb, Fixture: stack.NewFixtureWith(tb, stack.Program(tb), clowdertest.Options{}, nil), url: env["CLOWDER_URL"], key: env["ALICE_KEY"], env: env}
	r.Env["RABBITMQ_URI"], r.Env["CLOWDER_URL"], r.Env["CLOWDER_VERSION"] = env["RABBITMQ_URI"], env["CLOWDER_URL"], "1"
	if exchange := env["RABBITMQ_EXCHANGE"]; exchange != "" {
		r.Env["RABBITMQ_EXCHANGE"] = exchange
	}
	r.forgetSubmissions()
	r.browser = r.login("alice@example.org", cmp.Or(env["ALICE_PASSWORD"], "password"))
	r.admin = r.login("admin@example.org", cmp.Or(env["ADMIN_PASSWORD"], "password"))
	return r
}

// readEnv reads the file of NAME=value lines that a variable names.
func readEnv(tb testing.TB, variable string) map[string]string {
	tb.Helper()
	doc, err := os.ReadFile(os.Getenv(variable))
	require.NoError(tb, err)
	env := map[string]string{}
	for line := range strings.Lines(string(doc)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		env[name] = value
	}
	return env
}

// login returns a browser in which a user is logged in.
func (f *fixture) login(user, password string) *http.Client {
	f.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(f, err)
	browser := &http.Client{Jar: jar, Timeout: time.Minute, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	_, status := f.doAs(browser, http.MethodPost, "/authenticate/userpass", "application/x-www-form-urlencoded",
		strings.NewReader(url.Values{"username": {user}, "password": {password}}.Encode()))
	require.Less(f, status, 400)
	return browser
}

// enable lets Clowder tell an extractor of events, as an administrator does. It disables all others.
func (f *fixture) enable(extractor string) {
	f.Helper()
	require.Eventually(f, func() bool {
		_, status := f.do(http.MethodGet, "/api/extractors/"+extractor, "", nil)
		return status == http.StatusOK
	}, stack.StepTimeout, 100*time.Millisecond, "Clowder does not register %s", extractor)
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	require.NoError(f, w.WriteField("extractors", extractor))
	require.NoError(f, w.Close())
	_, status := f.doAs(f.admin, http.MethodPost, "/extractors", w.FormDataContentType(), &body)
	require.Less(f, status, 400)
}

// forgetSubmissions removes what earlier tests have left in the queues: submissions, and news of files while no service heard of them.
func (f *fixture) forgetSubmissions() {
	f.Helper()
	conn, err := amqp.Dial(f.Env["RABBITMQ_URI"])
	require.NoError(f, err)
	defer func() { _ = conn.Close() }()
	for _, name := range []string{stack.Extractor, stack.Advanced, stack.Manager, form.NewFiles} {
		ch, err := conn.Channel()
		require.NoError(f, err)
		_, _ = ch.QueuePurge(name, false) // it may not exist yet
	}
}

// do makes a request with the key and the session of alice.
func (f *fixture) do(method, path, contentType string, body io.Reader) (string, int) {
	f.Helper()
	return f.doAs(f.browser, method, path, contentType, body)
}

func (f *fixture) doAs(browser *http.Client, method, path, contentType string, body io.Reader) (string, int) {
	f.Helper()
	key := ""
	if strings.HasPrefix(path, "/api/") {
		key = f.key
	}
	return f.doWith(browser, key, method, path, contentType, body)
}

// doWith makes a request with a session and a key, empty for none.
func (f *fixture) doWith(browser *http.Client, key, method, path, contentType string, body io.Reader) (string, int) {
	f.Helper()
	req, err := http.NewRequestWithContext(f.Context(), method, f.url+path, body)
	require.NoError(f, err)
	if key != "" {
		req.Header.Set("X-API-Key", key)
	}
	req.Header.Set("Content-Type", contentType)
	answer, err := browser.Do(req)
	require.NoError(f, err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	require.NoError(f, err)
	return string(text), answer.StatusCode
}

// call sends JSON with the key of alice and decodes the answer.
func (f *fixture) call(method, path string, body, into any) {
	f.Helper()
	f.callAs(f.key, method, path, body, into)
}

// callAs sends JSON with a key and decodes the answer.
func (f *fixture) callAs(key, method, path string, body, into any) {
	f.Helper()
	doc, err := json.Marshal(body)
	require.NoError(f, err)
	answer, status := f.doWith(&http.Client{Timeout: time.Minute}, key, method, path, "application/json", bytes.NewReader(doc))
	require.Equal(f, http.StatusOK, status, answer)
	if into != nil {
		require.NoError(f, json.Unmarshal([]byte(answer), into), answer)
	}
}

// dataset makes a dataset with one table and returns the ids of both.
func (f *fixture) dataset(name string) (dataset, file string) {
	f.Helper()
	var made struct{ ID string }
	f.call(http.MethodPost, "/api/datasets/createempty", map[string]string{"name": name, "description": "d"}, &made)
	return made.ID, f.upload(made.ID, "train.csv", false)
}

// upload adds a table to a dataset and waits until it is stored.
func (f *fixture) upload(dataset, name string, extract bool) string {
	f.Helper()
	return f.uploadBody(dataset, name, "text,label\ngood,yes\nbad,no\n", extract)
}

func (f *fixture) uploadBody(dataset, name, body string, extract bool) string {
	f.Helper()
	var parts bytes.Buffer
	w := multipart.NewWriter(&parts)
	part, err := w.CreateFormFile("file", name)
	require.NoError(f, err)
	_, err = part.Write([]byte(body))
	require.NoError(f, err)
	require.NoError(f, w.Close())
	answer, status := f.do(http.MethodPost, fmt.Sprintf("/api/uploadToDataset/%s?extract=%t", dataset, extract), w.FormDataContentType(), &parts)
	require.Equal(f, http.StatusOK, status, answer)
	var made struct{ ID string }
	require.NoError(f, json.Unmarshal([]byte(answer), &made))
	require.Eventually(f, func() bool {
		var file struct{ Status string }
		f.call(http.MethodGet, "/api/files/"+made.ID+"/metadata", nil, &file)
		return file.Status != "CREATED"
	}, stack.StepTimeout, 100*time.Millisecond)
	return made.ID
}

// put adds a table to a folder with a key, empty for the root of the dataset, and returns its id once it is stored.
func (f *fixture) put(key, dataset, folder, name string) string {
	f.Helper()
	return f.putBody(key, dataset, folder, name, "text,label\ngood,yes\nbad,no\n")
}

func (f *fixture) putBody(key, dataset, folder, name, body string) string {
	f.Helper()
	file, err := f.session(key).Upload(f.Context(), dataset, folder, clowder.Body{
		Name: name, ContentType: "text/csv", Size: int64(len(body)), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil },
	})
	require.NoError(f, err)
	return file.ID
}

// folder adds a folder to the root of a dataset.
func (f *fixture) folder(key, dataset, name string) string {
	f.Helper()
	id, err := f.session(key).AddFolder(f.Context(), dataset, "", name)
	require.NoError(f, err)
	return id
}

// session acts as the user to whom a key belongs.
func (f *fixture) session(key string) *v1.Session {
	f.Helper()
	client, err := clowder.NewClient(clowder.Config{URLs: map[int]string{1: f.url}})
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, client.Close()) })
	s, err := v1.At(client, "", job.Secret(key))
	require.NoError(f, err)
	return s
}

// serve starts the service and returns once Clowder knows its extractors.
func (f *fixture) serve(env map[string]string) *stack.Service {
	f.Helper()
	s := f.Serve(f, env)
	if env["EXTRACTOR_KEY"] != "" {
		return s // its names are others
	}
	for _, name := range []string{stack.Extractor, stack.Predictor, stack.Manager} {
		require.Eventually(f, func() bool {
			_, status := f.do(http.MethodGet, "/api/extractors/"+name, "", nil)
			return status == http.StatusOK
		}, stack.StepTimeout, 100*time.Millisecond, "Clowder does not register %s", name)
	}
	return s
}

// submit submits a dataset ("datasets") or a file ("files") and returns the id of the job.
func (f *fixture) submit(collection, id, extractor string, parameters map[string]any) string {
	f.Helper()
	var answer struct {
		Status string `json:"status"`
		Job    string `json:"job_id"`
	}
	f.call(http.MethodPost, "/api/"+collection+"/"+id+"/extractions", map[string]any{"extractor": extractor, "parameters": parameters}, &answer)
	require.Equal(f, "OK", answer.Status)
	return answer.Job
}

var (
	logCell = regexp.MustCompile(`(?s)<td width="60%">(.*?)</td>`)
	tag     = regexp.MustCompile(`<[^>]*>`)
	cancels = regexp.MustCompile(`cancelSubmission\('[0-9a-f]+', '([0-9a-f]+)'`)
)

// log is what the page of a dataset or a file shows of its jobs.
func (f *fixture) log(page string) (lines []string) {
	f.Helper()
	text, status := f.do(http.MethodGet, page, "", nil)
	require.Equal(f, http.StatusOK, status)
	for _, cell := range logCell.FindAllStringSubmatch(text, -1) {
		lines = append(lines, html.UnescapeString(strings.Join(strings.Fields(tag.ReplaceAllString(cell[1], " ")), " ")))
	}
	return lines
}

// awaitLine waits until a page shows a line with these words n times, and returns all its lines.
func (f *fixture) awaitLine(page, words string, n int) (lines []string) {
	f.Helper()
	require.Eventually(f, func() bool {
		lines = f.log(page)
		return count(lines, words) >= n
	}, stack.StepTimeout, 200*time.Millisecond, "%s does not show %q", page, words)
	return lines
}

func count(lines []string, words string) (n int) {
	for _, line := range lines {
		if strings.Contains(line, words) {
			n++
		}
	}
	return n
}

// row is a file in the list of a dataset.
type row struct {
	ID, Filename string
	Folders      struct{ Name string }
}

func (f *fixture) rows(dataset string) (rows []row) {
	f.Helper()
	f.call(http.MethodGet, "/api/datasets/"+dataset+"/files", nil, &rows)
	return rows
}

// files are the names in a dataset, with the name of their folder.
func (f *fixture) files(dataset string) (names []string) {
	f.Helper()
	for _, row := range f.rows(dataset) {
		names = append(names, row.Folders.Name+"/"+row.Filename)
	}
	return names
}
