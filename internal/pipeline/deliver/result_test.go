package deliver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
)

func TestOnlyStagedFilesGetAnswers(t *testing.T) {
	t.Parallel()
	made := &results.Prediction{PerFile: []results.FileAnswer{{File: "a.png", ID: "staged"}, {File: "b.png", ID: "of another dataset"}, {File: "c.png"}}}
	keepStaged(made, []job.Input{{ID: "staged", Version: 2}})
	require.Equal(t, []results.FileAnswer{{File: "a.png", ID: "staged", Version: 2}, {File: "b.png"}, {File: "c.png"}}, made.PerFile)
}
