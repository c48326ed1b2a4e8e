//go:build clowder1

package clowder1

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/test/stack"
)

// jobsOfBoth is how many jobs come from both Clowders, in turns.
const jobsOfBoth = 20

// TestBothClowders serves a Clowder v1 and a Clowder v2 on one broker. RIG2_ENV names a file like that of RIG_ENV, of the v2. In the file
// of the v1, RABBITMQ_EXCHANGE names its exchange, which must not be that of the v2.
func TestBothClowders(t *testing.T) {
	if os.Getenv("RIG2_ENV") == "" {
		t.Skip("RIG2_ENV names no Clowder v2 on the broker of RIG_ENV")
	}
	r := newRig(t)
	env := readEnv(t, "RIG2_ENV")
	client, err := clowder.NewClient(clowder.Config{URL: env["CLOWDER_URL"]})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	two := client.As(job.Secret(env["ALICE_KEY"]))
	s := r.serve(map[string]string{"CLOWDER_URL": env["CLOWDER_URL"], "CLOWDER1_URL": r.url, "CLOWDER_VERSION": "0"})
	pages, jobs := map[string]bool{}, map[string]string{}
	for i := range jobsOfBoth {
		if i%2 == 0 {
			dataset, _ := r.dataset(fmt.Sprintf("Of the first %d", i))
			r.submit("datasets", dataset, stack.Extractor, nil)
			pages["/datasets/"+dataset] = true
			continue
		}
		dataset, err := two.CreateDataset(t.Context(), fmt.Sprintf("Of the second %d", i), "d")
		require.NoError(t, err)
		uploadTo(t, two, dataset.ID, "train.csv", "text,label\ngood,yes\nbad,no\n")
		id, err := two.Submit(t.Context(), dataset.ID, stack.Extractor, nil)
		require.NoError(t, err)
		jobs[id] = dataset.ID
	}
	for page := range pages {
		lines := r.awaitLine(page, "DONE", 1)
		require.Equal(t, 1, count(lines, "Results in folder finetune/"), "in the words of v1: %q", lines)
	}
	for id, dataset := range jobs {
		require.Eventually(t, func() bool {
			j, err := two.Job(t.Context(), id)
			return err == nil && j.Status == "SUCCEEDED"
		}, stack.StepTimeout, 200*time.Millisecond)
		files, err := two.Files(t.Context(), dataset)
		require.NoError(t, err)
		models := 0
		for _, f := range files {
			if f.Name == "model.zip" {
				models++
			}
		}
		require.Equal(t, 1, models)
	}
	r.awaitNoActive()
	versions := map[int]int{}
	for _, rec := range r.Records(t) {
		require.Equal(t, job.Done, rec.State, rec.LastError)
		versions[cmp.Or(rec.Request.APIVersion, 2)]++
	}
	require.Equal(t, map[int]int{1: jobsOfBoth / 2, 2: jobsOfBoth / 2}, versions)
	require.NoError(t, s.Stop(30*time.Second))
}

// TestTheOtherClowderTellsOfNewFiles: a Clowder v2 tells of each new file by itself. Its results, which it tells of as well, start nothing.
func TestTheOtherClowderTellsOfNewFiles(t *testing.T) {
	if os.Getenv("RIG2_ENV") == "" {
		t.Skip("RIG2_ENV names no Clowder v2 on the broker of RIG_ENV")
	}
	r := newRig(t)
	env := readEnv(t, "RIG2_ENV")
	client, err := clowder.NewClient(clowder.Config{URL: env["CLOWDER_URL"]})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	two := client.As(job.Secret(env["ALICE_KEY"]))
	s := r.serve(map[string]string{"CLOWDER_URL": env["CLOWDER_URL"], "CLOWDER1_URL": r.url, "CLOWDER_VERSION": "0", "AUTOMATIC_AFTER": "10s"})
	require.Eventually(t, func() bool {
		all, err := two.Listeners(t.Context())
		return err == nil && slices.ContainsFunc(all, func(l clowder.Listener) bool { return l.Name == form.NewFiles })
	}, stack.StepTimeout, 200*time.Millisecond)
	dataset, err := two.CreateDataset(t.Context(), "Automatic", "d")
	require.NoError(t, err)
	uploadTo(t, two, dataset.ID, "train.csv", "text,label\ngood,yes\nbad,no\n")
	_, err = two.Submit(t.Context(), dataset.ID, stack.Extractor, nil)
	require.NoError(t, err)
	automatic := func() []job.Record {
		return slices.DeleteFunc(r.Records(t), func(rec job.Record) bool { return len(rec.Request.Announced) == 0 })
	}
	require.Eventually(t, func() bool { return len(automatic()) > 0 && len(r.Records(t)) > len(automatic()) }, stack.StepTimeout, 200*time.Millisecond)
	r.awaitNoActive()
	for _, rec := range automatic() {
		require.Equal(t, job.Skipped, rec.State, "not asked for, and about results: %v", rec.Ending)
	}
	before := len(automatic())
	uploadTo(t, two, dataset.ID, "finetune.yaml", "automatic: predict\n")
	uploadTo(t, two, dataset.ID, "new 1.csv", "text\ngood\n")
	uploadTo(t, two, dataset.ID, "new 2.csv", "text\nbad\n")
	require.Eventually(t, func() bool { return len(automatic()) == before+2 }, stack.StepTimeout, 200*time.Millisecond, "the run and its results")
	r.awaitNoActive()
	runs := automatic()[before:]
	require.Equal(t, []job.State{job.Done, job.Skipped}, []job.State{runs[0].State, runs[1].State})
	require.Len(t, runs[0].Request.Announced, 2)
	for _, a := range runs[0].Request.Announced {
		j, err := two.Job(t.Context(), a.JobID)
		require.NoError(t, err)
		require.Contains(t, []string{"SUCCEEDED", "SKIPPED"}, j.Status, "%s", j.Message)
	}
	require.NoError(t, s.Stop(30*time.Second))
}

func uploadTo(t *testing.T, s *clowder.Session, dataset, name, body string) {
	t.Helper()
	_, err := s.Upload(t.Context(), dataset, "", clowder.Body{
		Name: name, ContentType: "text/plain", Size: int64(len(body)), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil },
	})
	require.NoError(t, err)
}
