package pipeline

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/results"
)

func TestOnlyStagedFilesGetAnswers(t *testing.T) {
	t.Parallel()
	made := &results.Prediction{PerFile: []results.FileAnswer{{File: "a.png", ID: "staged"}, {File: "b.png", ID: "of another dataset"}, {File: "c.png"}}}
	keepStaged(made, []job.Input{{ID: "staged"}})
	require.Equal(t, []results.FileAnswer{{File: "a.png", ID: "staged"}, {File: "b.png"}, {File: "c.png"}}, made.PerFile)
}

func TestAFileNeedsADatasetForItsResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		for name, dataset := range map[string]string{"ft-inside": strings.Repeat("d", 24), "ft-outside": ""} {
			rec := jobtest.Record(name, "h1")
			rec.Request.Kind, rec.Request.ResourceID, rec.Request.DatasetID = job.File, strings.Repeat("f", 24), dataset
			rec.Request.Name = "a.csv"
			_, _, err := b.store.Accept(t.Context(), rec)
			require.NoError(t, err)
		}
		stopAfter(t, b, time.Minute)
		require.Equal(t, job.Done, b.get(t, "ft-inside").State)
		require.Equal(t, job.Failed, b.get(t, "ft-outside").State)
		require.Contains(t, b.get(t, "ft-outside").Ending.Text, "add it to a dataset, then submit it again")
		require.Contains(t, b.texts("ft-inside", "Accepted")[0], "Accepted file ")
	})
}
