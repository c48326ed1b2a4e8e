package pipeline

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
)

func TestOnlyStagedFilesGetAnswers(t *testing.T) {
	t.Parallel()
	made := &results.Prediction{PerFile: []results.FileAnswer{{File: "a.png", ID: "staged"}, {File: "b.png", ID: "of another dataset"}, {File: "c.png"}}}
	keepStaged(made, []job.Input{{ID: "staged"}})
	require.Equal(t, []results.FileAnswer{{File: "a.png", ID: "staged"}, {File: "b.png"}, {File: "c.png"}}, made.PerFile)
}

func TestAListOfInputsThatTheTrainingWroteIsRefused(t *testing.T) {
	t.Parallel()
	v := Volume{Dir: t.TempDir()}
	require.NoError(t, v.makeRun(run))
	sum, err := v.writeManifest(run, []job.Input{{ID: "mine"}})
	require.NoError(t, err)
	rec := job.Record{Run: run, InputsSHA256: sum}
	inputs, err := v.readManifest(rec)
	require.NoError(t, err)
	require.Equal(t, []job.Input{{ID: "mine"}}, inputs)

	require.NoError(t, v.writeJSON(run, inputsFile, []job.Input{{ID: "of somebody else"}}))
	_, err = v.readManifest(rec)
	require.ErrorContains(t, err, "changed by another program")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
	_, err = v.readManifest(job.Record{Run: run})
	require.NoError(t, err, "a job that an older version has staged knows no sum")
}
