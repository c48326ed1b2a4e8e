package stack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
)

// Clowder1 is a double of Clowder v1 on the virtual host of a fixture, beside its v2.
type Clowder1 struct {
	*clowdertest.Server
	// Dataset belongs to User.
	Dataset string
}

// AddClowder1 puts a Clowder v1 with a dataset beside the v2 of the fixture. Call it before Start.
func (w *Fixture) AddClowder1(tb testing.TB, files map[string]string) *Clowder1 {
	tb.Helper()
	const exchange = "clowder1" // v2 declares one of another type with the name that both prefer
	server, err := clowdertest.New(clowdertest.Options{Version: 1, AMQPURI: w.Env["RABBITMQ_URI"], Exchange: exchange})
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, server.Close()) })
	w.Env["CLOWDER1_URL"], w.Env["RABBITMQ_EXCHANGE"] = server.URL, exchange
	one := &Clowder1{Server: server, Dataset: server.AddDataset(User, "Reviews of v1")}
	for name, body := range files {
		_, err := server.AddFile(one.Dataset, name, strings.NewReader(body))
		require.NoError(tb, err)
	}
	return one
}

// Submit submits the dataset to an extractor and returns the id of the job.
func (c *Clowder1) Submit(tb testing.TB, extractor string) string {
	tb.Helper()
	var made struct {
		JobID string `json:"job_id"`
	}
	c.call(tb, http.MethodPost, "/api/datasets/"+c.Dataset+"/extractions", `{"extractor":"`+extractor+`","parameters":{}}`, &made)
	return made.JobID
}

// Files are the names of the files in the dataset, each after the name of its folder.
func (c *Clowder1) Files(tb testing.TB) (names []string) {
	tb.Helper()
	var rows []struct {
		Filename string
		Folders  struct{ Name string }
	}
	c.call(tb, http.MethodGet, "/api/datasets/"+c.Dataset+"/files", "", &rows)
	for _, row := range rows {
		names = append(names, row.Folders.Name+"/"+row.Filename)
	}
	return names
}

// Lines is what the page of the dataset shows of a job.
func (c *Clowder1) Lines(job string) (lines []string) {
	for _, e := range c.Events(c.Dataset) {
		if e.JobID == job {
			lines = append(lines, e.Text)
		}
	}
	return lines
}

// AwaitEnd returns what the page shows of a job once its newest line is an end.
func (c *Clowder1) AwaitEnd(tb testing.TB, job string) (lines []string) {
	tb.Helper()
	require.Eventually(tb, func() bool {
		lines = c.Lines(job)
		last := lines[len(lines)-1]
		return last == "DONE" || strings.Contains(last, "StatusMessage.error")
	}, StepTimeout, 50*time.Millisecond)
	return lines
}

func (c *Clowder1) call(tb testing.TB, method, path, body string, into any) {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), method, c.URL+path, strings.NewReader(body))
	require.NoError(tb, err)
	req.Header.Set("X-API-Key", c.Key(User))
	req.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(req)
	require.NoError(tb, err)
	defer func() { _ = answer.Body.Close() }()
	require.Equal(tb, http.StatusOK, answer.StatusCode)
	require.NoError(tb, json.NewDecoder(answer.Body).Decode(into))
}

// Upload adds a file to the dataset, as a user does in the page if extract is set: Clowder then tells the extractors of it.
func (c *Clowder1) Upload(tb testing.TB, name string, extract bool) string {
	tb.Helper()
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", name)
	require.NoError(tb, err)
	_, err = part.Write([]byte(name))
	require.NoError(tb, errors.Join(err, w.Close()))
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, fmt.Sprintf("%s/api/uploadToDataset/%s?extract=%t", c.URL, c.Dataset, extract), &form)
	require.NoError(tb, err)
	req.Header.Set("X-API-Key", c.Key(User))
	req.Header.Set("Content-Type", w.FormDataContentType())
	answer, err := http.DefaultClient.Do(req)
	require.NoError(tb, err)
	defer func() { _ = answer.Body.Close() }()
	var made struct{ ID string }
	require.NoError(tb, json.NewDecoder(answer.Body).Decode(&made))
	return made.ID
}
