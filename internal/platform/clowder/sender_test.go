package clowder

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/job"
)

// jobAt is the id of a job that Clowder created at a time.
func jobAt(at time.Time) string {
	return fmt.Sprintf("%08x", at.Unix()) + strings.Repeat("0", 16)
}

// uploadOf is a file to upload.
func uploadOf(name, content string) clowder.Body {
	return clowder.Body{
		Name: name, ContentType: "text/csv", Size: int64(len(content)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil },
	}
}

// versionedFile is a file of alice's with a second version, and when that was saved.
func versionedFile(t *testing.T, d *deliveryTest) (file string, saved time.Time) {
	t.Helper()
	session, err := d.client.At(d.line.URL, job.Secret(d.server.Key(alice)))
	require.NoError(t, err)
	f, err := session.Upload(t.Context(), d.rec.Request.DatasetID, "", uploadOf("a.csv", "a"))
	require.NoError(t, err)
	d.update(t, alice, f)
	all, err := session.Versions(t.Context(), f.ID, 5)
	require.NoError(t, err)
	require.Len(t, all, 2)
	return f.ID, all[0].SavedAt
}

// update saves a new version of a file in the name of a user.
func (d *deliveryTest) update(t *testing.T, user string, f clowder.File) {
	t.Helper()
	session := d.client.Bearer(job.Secret(d.server.Token(user)))
	state, err := session.FileState(t.Context(), f.ID)
	require.NoError(t, err)
	_, err = session.Update(t.Context(), state, []byte("b"))
	require.NoError(t, err)
}

func TestWhoSentAJobAboutAFile(t *testing.T) {
	t.Parallel()
	filled := map[string]any{"epochs": 3.0}
	d := newDeliveryWith(t, clowdertest.Options{Version: 2}, alice)
	file, saved := versionedFile(t, d)
	for name, tc := range map[string]struct {
		alter func(*job.Request)
		want  job.Sender
	}{
		"right after a new version":                     {func(r *job.Request) { r.JobID = jobAt(saved) }, job.NewVersion},
		"after a slow look at its index":                {func(r *job.Request) { r.JobID = jobAt(saved.Add(40 * time.Second)) }, job.NewVersion},
		"right after it, without settings":              {func(r *job.Request) { r.JobID, r.Parameters = jobAt(saved), nil }, job.NewVersion},
		"before it":                                     {func(r *job.Request) { r.JobID = jobAt(saved.Add(-2 * time.Second)) }, job.Person},
		"two minutes after it":                          {func(r *job.Request) { r.JobID = jobAt(saved.Add(2 * time.Minute)) }, job.Person},
		"two minutes after it, without settings":        {func(r *job.Request) { r.JobID, r.Parameters = jobAt(saved.Add(2*time.Minute)), nil }, job.Feed},
		"a message by hand, with another kind of id":    {func(r *job.Request) { r.JobID = "by-hand" }, job.Person},
		"a dataset, which is never submitted again":     {func(r *job.Request) { r.Kind, r.JobID = job.Dataset, jobAt(saved) }, job.Person},
		"a file that is gone":                           {func(r *job.Request) { r.ResourceID, r.JobID = jobAt(saved), jobAt(saved) }, job.Person},
		"a Clowder v1, which submits nothing by itself": {func(r *job.Request) { r.APIVersion, r.JobID, r.Parameters = 1, jobAt(saved), nil }, job.Person},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := d.rec
			rec.Request.Kind, rec.Request.ResourceID, rec.Request.Parameters = job.File, file, filled
			tc.alter(&rec.Request)
			got, err := d.platform.Sender(t.Context(), rec)
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
}

func TestAClowderThatDoesNotAnswerIsAskedAgainWhoSentAJob(t *testing.T) {
	t.Parallel()
	d := newDelivery(t, alice)
	file, saved := versionedFile(t, d)
	rec := d.rec
	rec.Request.Kind, rec.Request.ResourceID, rec.Request.JobID = job.File, file, jobAt(saved)
	d.server.Fail(clowdertest.Fault{Path: "/versions", Status: http.StatusServiceUnavailable, Times: 1})
	_, err := d.platform.Sender(t.Context(), rec)
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindRetryable, kind)
	got, err := d.platform.Sender(t.Context(), rec)
	require.NoError(t, err)
	require.Equal(t, job.NewVersion, got)
}

// The double does what Clowder v2 is meant to do, and each of the new jobs is known as Clowder's own.
func TestEveryJobOfAFileComesAgainWithItsNewVersion(t *testing.T) {
	t.Parallel()
	d := newDeliveryWith(t, clowdertest.Options{Version: 2, Resubmits: true}, alice)
	session, err := d.client.At(d.line.URL, job.Secret(d.server.Key(alice)))
	require.NoError(t, err)
	f, err := session.Upload(t.Context(), d.rec.Request.DatasetID, "", uploadOf("a.csv", "a"))
	require.NoError(t, err)
	before := map[string]bool{}
	for _, extractor := range []string{"ncsa.ray.finetune", "ncsa.ray.runs"} {
		before[d.server.AddFileJob(alice, f.ID, extractor, map[string]any{"run": extractor})] = true
	}
	d.update(t, bob, f)
	again := 0
	for _, id := range d.server.Jobs() {
		if before[id] {
			continue
		}
		again++
		shown, err := session.Job(t.Context(), id)
		require.NoError(t, err)
		require.JSONEq(t, fmt.Sprintf(`{"run":%q}`, shown.Listener), string(shown.Params), "with the settings of the earlier one")
		require.Equal(t, bob, shown.Creator.Email, "in the name of the user who saved the version")
		rec := d.rec
		rec.Request.Kind, rec.Request.ResourceID, rec.Request.JobID, rec.Request.Parameters = job.File, f.ID, id, map[string]any{"run": "x"}
		got, err := d.platform.Sender(t.Context(), rec)
		require.NoError(t, err)
		require.Equal(t, job.NewVersion, got)
		_, err = hex.DecodeString(id)
		require.NoError(t, err)
	}
	require.Equal(t, 2, again)
}
