package sweep

import (
	"bytes"
	"encoding/csv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
)

// cellsOf is the line of sweep.csv of each training, by the names of the columns.
func cellsOf(t *testing.T, made *table) []map[string]string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, made.writeCSV(&out))
	lines, err := csv.NewReader(&out).ReadAll()
	require.NoError(t, err)
	var all []map[string]string
	for _, line := range lines[1:] {
		cells := map[string]string{}
		for i, name := range lines[0] {
			cells[name] = line[i]
		}
		all = append(all, cells)
	}
	return all
}

// TestWhatIsNotKnownIsLeftOut: a 0 in its place would be taken for a measurement.
func TestWhatIsNotKnownIsLeftOut(t *testing.T) {
	t.Parallel()
	made := swept(t, []int{1}, []int{10, 30}, func(r *results.Result, _ point) {
		r.Metrics.Test, r.Training.PerWorker, r.Training.SamplesPerSecond, r.Training.Threads, r.Training.Seconds = nil, nil, 0, 0, 0
	})
	for _, cells := range cellsOf(t, made) {
		for _, name := range []string{"score", "low", "high", "accuracy", "network_score", "rows_per_second", "threads_per_worker", "cores_per_worker", "peak_memory_bytes", "speed_up", "efficiency"} {
			require.Empty(t, cells[name], name)
		}
	}
	titles, shown := made.shown()
	require.Equal(t, []string{"Workers", "Epochs", "Time", "Training"}, titles)
	require.Equal(t, []string{"1", "10", "1 min 45 s", "0 s"}, shown[0])
	require.Empty(t, made.conclusions(), "nothing is concluded from scores that nobody knows")
	require.Empty(t, made.charts(), "there is no score to draw")
}

func TestSentencesCountTheWorkersThatRan(t *testing.T) {
	t.Parallel()
	made := swept(t, []int{1, 4}, []int{10}, func(r *results.Result, p point) {
		if p.Workers == 4 { // there was room for two
			two := result(2, p.Epochs)
			r.Training = two.Training
		}
	})
	require.Equal(t, []string{
		"2 workers: 1.80 times the speed of 1 worker (90 % of what is possible), with 10 epochs.", "2 workers pay for this dataset. More may pay, too.",
		"Ray had no room for all workers (4 workers, 10 epochs).",
	}, made.conclusions())
}

func TestTheWorkersThatPayAreNamedBelowTheMost(t *testing.T) {
	t.Parallel()
	made := swept(t, []int{1, 2, 4}, []int{10}, func(r *results.Result, p point) {
		r.Hardware.Cores = 8
		if p.Workers == 4 {
			r.Training.Seconds = result(2, p.Epochs).Training.Seconds // no faster than two
		}
	})
	require.Equal(t, []string{
		"2 workers: 1.80 times the speed of 1 worker (90 % of what is possible), with 10 epochs.",
		"4 workers: 1.80 times the speed of 1 worker (45 % of what is possible), with 10 epochs.",
		"Use 2 workers: with more, much of the time goes into what workers do not share, such as the start and the measuring.",
	}, made.conclusions())
}

func TestTrainingsOnDifferentMachinesAreNamed(t *testing.T) {
	t.Parallel()
	made := swept(t, []int{1, 2}, []int{10}, func(r *results.Result, p point) {
		if p.Workers == 2 {
			r.Hardware.CPU = "Another CPU"
		}
	})
	require.Contains(t, made.conclusions(), "These ran on another machine: 2 workers, 10 epochs.")
}

func TestWorkersOnSeveralMachinesDoNotShareCores(t *testing.T) {
	t.Parallel()
	spread := func(nodes ...string) *table {
		return swept(t, []int{4}, []int{10}, func(r *results.Result, _ point) {
			for i := range r.Training.PerWorker {
				r.Training.PerWorker[i].Node = nodes[i%len(nodes)]
			}
		})
	}
	const shared = "The workers have more threads than the machine has cores (4 workers, 10 epochs), so they share them."
	require.Contains(t, spread("a").conclusions(), shared)
	require.NotContains(t, spread("a", "b").conclusions(), shared)
}

func TestASweepOfAnEstimatorSaysWhatItCompares(t *testing.T) {
	t.Parallel()
	made := swept(t, []int{1, 2}, []int{10}, func(r *results.Result, p point) {
		r.Candidates = []results.Candidate{
			{
				Name: "bert", Title: "BERT tiny", Sort: results.SortNetwork, Seconds: 40 / float64(p.Workers),
				Validation: map[string]float64{"loss": 1}, Test: results.Scores{"f1_macro": {Value: 0.55, N: 200}},
			},
			{Name: "words", Title: "Words", Sort: results.SortEstimator, Chosen: true, Validation: map[string]float64{"loss": 0.5}},
		}
	})
	require.Equal(t, []string{
		"2 workers: 2.00 times the speed of 1 worker (100 % of what is possible), with 10 epochs.", "2 workers pay for this dataset. More may pay, too.",
		"The delivered model is not the network alone: workers and epochs change only the network.",
	}, made.conclusions())
	cells := cellsOf(t, made)
	require.Equal(t, "0.55", cells[1]["network_score"])
	require.Equal(t, "Words", cells[1]["model"])
	require.Empty(t, cells[1]["rows_per_second"], "those of the estimator say nothing of the network")
	require.Contains(t, made.lines(), "Network alone")
}

func TestARowAddsUpItsWorkers(t *testing.T) {
	t.Parallel()
	half, more := 0.5, 0.25
	r := row{PerWorker: []results.Worker{
		{CPUSeconds: 30, Seconds: 20, PeakMemoryBytes: 5, WaitingShare: &half}, {CPUSeconds: 10, Seconds: 20, PeakMemoryBytes: 9, WaitingShare: &more}, {Seconds: 0}, {},
	}}
	require.InDelta(t, 1, r.cores(), 1e-12)
	require.InDelta(t, 0.1875, r.waiting(), 1e-12, "a worker that does not tell waits for nobody")
	require.Equal(t, int64(9), r.peak())
	require.Zero(t, row{}.cores())
	require.Zero(t, row{}.waiting())
	require.True(t, row{}.onOneNode())
}

func TestNumbersAreReadInOrderAndOnce(t *testing.T) {
	t.Parallel()
	for given, want := range map[string][]int{"1": {1}, "3,1,2": {1, 2, 3}, "2 ,2, 2": {2}, "10000,1": {1, 10000}, "+4": {4}} {
		got, err := numbers(given)
		require.NoError(t, err, given)
		require.Equal(t, want, got)
	}
	for _, given := range []string{"", ",", "1,", "0", "-1", "10001", "1.5", "1e3", "one", "1;2", "99999999999999999999"} {
		_, err := numbers(given)
		require.EqualError(t, err, "must be whole numbers from 1 to 10000, separated by commas", given)
	}
}

func TestAParameterMayHoldAnEqualsSign(t *testing.T) {
	t.Parallel()
	got, err := parameters([]string{"prompt=a=b", "empty=", "make_champion=yes"})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"prompt": "a=b", "empty": "", "make_champion": "yes", "early_stopping_patience": "0"}, got)
	_, err = parameters([]string{"=3"})
	require.ErrorContains(t, err, "must have the form key=value")
}

func TestOptionsDifferByNameAndValue(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		a, b map[string]string
		want []string
	}{
		"the same":              {map[string]string{"a": "1"}, map[string]string{"a": "1"}, nil},
		"none":                  {nil, nil, nil},
		"another value":         {map[string]string{"a": "1"}, map[string]string{"a": "2"}, []string{"a"}},
		"one that is missing":   {map[string]string{"b": "1", "a": "1"}, nil, []string{"a", "b"}},
		"empty is not missing":  {map[string]string{"a": ""}, map[string]string{}, []string{"a"}},
		"more of the other one": {nil, map[string]string{"z": "1"}, []string{"z"}},
	} {
		require.Equal(t, tc.want, differences(tc.a, tc.b), name)
	}
}

func TestChartsHaveRoomForTheirLines(t *testing.T) {
	t.Parallel()
	made := swept(t, []int{1, 2, 4}, []int{1, 2, 3, 4, 5, 6}, nil)
	charts := made.charts()
	require.Len(t, charts, 3)
	for _, c := range charts {
		require.LessOrEqual(t, len(c.Lines), maxLines, c.Title)
		var styles []any
		for _, l := range c.Lines {
			require.NotContains(t, styles, any(l.Style), "each line of %s has a style of its own", c.Title)
			styles = append(styles, l.Style)
		}
	}
	possible := charts[1].Lines[len(charts[1].Lines)-1]
	require.Equal(t, "possible", possible.Name)
	require.InDelta(t, 4, possible.Points[2].Y, 1e-12)
	require.Contains(t, charts[1].Summary, "1 epoch from 1 to 3.4")
	require.Empty(t, swept(t, []int{1}, []int{10}, nil).charts(), "one point is no chart")
	require.Len(t, swept(t, []int{1}, []int{10, 30}, nil).charts(), 1, "the score over the epochs")
}
