//go:build clowder1

package clowder1

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
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
		table := "text,label\ngood,yes\nbad,no\n"
		_, err = two.Upload(t.Context(), dataset.ID, "", clowder.Body{
			Name: "train.csv", ContentType: "text/csv", Size: int64(len(table)), Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(table)), nil },
		})
		require.NoError(t, err)
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
