package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
)

func TestTheTableOfWorkersSaysWhatTheyShare(t *testing.T) {
	t.Parallel()
	r := &results.Result{Kind: results.ResultTraining}
	r.Training.PerWorker = []results.Worker{
		{Rank: 0, Node: "a", SamplesPerSecond: 10, CPUSeconds: 9, Seconds: 10, PeakMemoryBytes: 3 << 30, FileMemoryBytes: 2 << 30},
		{Rank: 1, Node: "a", SamplesPerSecond: 12, PeakMemoryBytes: 1 << 30},
	}
	part := newRunPart(nil, r, manifest.Meta{})
	require.True(t, part.Files)
	require.Equal(t, []workerRow{
		{Rank: "0 a", Speed: "10", CPU: "0.90 cores", Memory: "3 GiB", Files: "2 GiB", GPU: "–", Waiting: "–"},
		{Rank: "1 a", Speed: "12", CPU: "–", Memory: "1 GiB", Files: "–", GPU: "–", Waiting: "–"},
	}, part.Workers)
	r.Training.PerWorker[0].FileMemoryBytes = 0
	require.False(t, newRunPart(nil, r, manifest.Meta{}).Files)
}
