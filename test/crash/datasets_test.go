//go:build integration && crash

package crash

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/test/stack"
)

// TestAKillWhileManyDatasetsAreStaged: the run goes on with the datasets as they were listed, lists none of them twice, and delivers its results to
// the dataset that it was started from.
func TestAKillWhileManyDatasetsAreStaged(t *testing.T) {
	t.Parallel()
	const sets = 20
	w := stack.NewFixture(t, stack.Program(t), map[string]string{"notes.txt": "the captures of a season\n"})
	var ids []string
	for n := range sets {
		id := w.Clowder.AddDataset(stack.User, fmt.Sprintf("plot %d", n))
		_, err := w.Clowder.AddFile(id, "train.csv", strings.NewReader(fmt.Sprintf("text,label\ngood %d,yes\nbad %d,no\n", n, n)))
		require.NoError(t, err)
		ids = append(ids, id)
	}
	_, state := finishedAfterKill(t, w, crash.PartStaged, func() string {
		return w.Submit(t, w.Dataset, map[string]any{"more_options": "data.datasets: search:plot"})
	})
	require.Equal(t, job.Done, state)
	require.Equal(t, 1, w.Clowder.Requests("POST", "/_msearch"))
	for _, id := range ids {
		require.Equal(t, 1, w.Clowder.Requests("GET", "/datasets/"+id+"/files"))
	}
	require.Contains(t, fileNames(t, w), "report.html", "the results are where the run was started")

	lists, err := filepath.Glob(filepath.Join(w.Env["SHARED_DIR"], "runs", "*", "inputs.json"))
	require.NoError(t, err)
	require.Len(t, lists, 1)
	doc, err := os.ReadFile(lists[0])
	require.NoError(t, err)
	var inputs []job.Input
	require.NoError(t, json.Unmarshal(doc, &inputs))
	require.Len(t, inputs, sets+1)
	for _, in := range inputs {
		require.NotEmpty(t, in.Dataset)
		require.NotEmpty(t, in.DatasetID)
	}
}
