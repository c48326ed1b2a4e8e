package runs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
)

func TestRunsThatWereTestedOnTheSameExamplesNameThem(t *testing.T) {
	t.Parallel()
	of := func(unit, split string, n int) compared {
		r := &results.Result{Kind: results.ResultTraining, Task: "some-task", UnitName: unit}
		r.Data.SplitSHA256, r.Data.Rows.Test = split, n
		return compared{result: r}
	}
	for name, tc := range map[string]struct {
		list []compared
		same bool
		want string
	}{
		"rows":                   {[]compared{of("", "a", 20), of("", "a", 20)}, true, "All were tested on the same 20 rows."},
		"pictures":               {[]compared{of("picture", "a", 20), of("picture", "a", 20)}, true, "All were tested on the same 20 pictures."},
		"one without a result":   {[]compared{of("node", "a", 9), of("node", "a", 9), {}}, true, "Those that have a result were tested on the same 9 nodes."},
		"other pictures":         {[]compared{of("picture", "a", 20), of("picture", "b", 20)}, false, "Different test pictures: the scores are not comparable. Give the dataset a test file, or the runs the same seed and the same files."},
		"one run with a result":  {[]compared{of("", "a", 20), {}}, false, ""},
		"no hash of their split": {[]compared{of("", "", 20), of("", "", 20)}, false, "Different test rows: the scores are not comparable. Give the dataset a test file, or the runs the same seed and the same files."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same, words := testRows(tc.list)
			require.Equal(t, tc.same, same)
			require.Equal(t, tc.want, words)
		})
	}
}
