package sweep

import (
	"bytes"
	"encoding/csv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
)

// swept is a table of trainings, made by change from those of the double.
func swept(t *testing.T, workers, epochs []int, change func(*results.Result, point)) *table {
	t.Helper()
	made := &table{Schema: schemaVersion, Dataset: "films <b>", Parameters: map[string]string{"model": "<script>"}}
	for _, p := range made.left(request{workers: workers, epochs: epochs}) {
		r := result(p.Workers, p.Epochs)
		if change != nil {
			change(r, p)
		}
		row, err := newRow(p, r)
		require.NoError(t, err)
		made.add(row)
	}
	return made
}

func TestTheCSVHasALineForEachTraining(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, swept(t, []int{1, 2}, []int{10}, nil).writeCSV(&out))
	lines, err := csv.NewReader(&out).ReadAll()
	require.NoError(t, err)
	require.Len(t, lines, 3)
	second := map[string]string{}
	for i, name := range lines[0] {
		second[name] = lines[2][i]
	}
	require.Equal(t, map[string]string{
		"workers": "2", "epochs": "10", "used_workers": "2", "threads_per_worker": "1", "epochs_done": "10", "stopped": "all epochs done",
		"seconds": "60.5556", "training_seconds": "55.5556", "rows_per_second": "2000", "speed_up": "1.8", "efficiency": "0.9", "metric": "f1_macro",
		"score": "0.6", "low": "0.58", "high": "0.62", "accuracy": "0.9", "network_score": "", "cores_per_worker": "1", "peak_memory_bytes": "1073741824",
		"waiting_share": "0.05", "model": "bert-tiny", "run": "ft-one",
	}, second)
}

func TestConclusions(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		workers, epochs []int
		change          func(*results.Result, point)
		want            []string
	}{
		"workers pay": {
			[]int{1, 2},
			[]int{10},
			nil,
			[]string{"2 workers: 1.80 times the speed of 1 worker (90 % of what is possible), with 10 epochs.", "2 workers pay for this dataset. More may pay, too."},
		},
		"workers wait": {
			[]int{1, 2},
			[]int{10},
			func(r *results.Result, _ point) {
				r.Training.Seconds = 50
				for i := range r.Training.PerWorker {
					share := 0.4
					r.Training.PerWorker[i].WaitingShare = &share
				}
			},
			[]string{
				"2 workers: 1.00 times the speed of 1 worker (50 % of what is possible), with 10 epochs.",
				"Use 1 worker. With more, each of them waits for the others for 40 % of its time: a larger batch_size helps.",
			},
		},
		"workers do not share the work": {
			[]int{1, 2},
			[]int{10},
			func(r *results.Result, _ point) { r.Training.Seconds = 50 },
			[]string{
				"2 workers: 1.00 times the speed of 1 worker (50 % of what is possible), with 10 epochs.",
				"Use 1 worker: with more, much of the time goes into what workers do not share, such as the start and the measuring.",
			},
		},
		"epochs pay":                    {[]int{1}, []int{10, 30}, nil, []string{"10 epochs: F1 0.600; 30 epochs: 0.800."}},
		"epochs differ within chance":   {[]int{1}, []int{10, 11}, nil, []string{"10 epochs: F1 0.600; 11 epochs: 0.610. The 95 % intervals overlap, so the difference may be chance."}},
		"one training":                  {[]int{1}, []int{10}, nil, nil},
		"a training that ended by time": {[]int{1}, []int{10}, func(r *results.Result, _ point) { r.Training.Epochs, r.Training.Stopped = 2.5, results.StoppedByTime }, []string{"Some trainings ended before their last epoch (1 worker, 10 epochs): their time is too short."}},
		"fewer workers than asked for": {
			[]int{3},
			[]int{10},
			func(r *results.Result, _ point) {
				r.Training.Workers, r.Training.PerWorker = 2, r.Training.PerWorker[:2]
			},
			[]string{"Ray had no room for all workers (3 workers, 10 epochs)."},
		},
		"more workers than cores": {
			[]int{4},
			[]int{10},
			nil,
			[]string{"The workers have more threads than the machine has cores (4 workers, 10 epochs), so they share them."},
		},
		"a busy machine": {
			[]int{1},
			[]int{10},
			func(r *results.Result, _ point) { r.Training.PerWorker[0].CPUSeconds /= 2 },
			[]string{"Other programs used the machine during these trainings: a worker that was alone had less than a core (1 worker, 10 epochs). Repeat the sweep on a quiet machine."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, swept(t, tc.workers, tc.epochs, tc.change).conclusions())
		})
	}
}

func TestARowTakesTheFiguresOfTheNetwork(t *testing.T) {
	t.Parallel()
	network := results.Candidate{
		Name: "bert-tiny", Title: "BERT tiny", Sort: results.SortNetwork, Seconds: 40,
		Validation: map[string]float64{"loss": 1}, Test: results.Scores{"f1_macro": {Value: 0.55, N: 200}},
	}
	words := results.Candidate{Name: "words", Title: "Words", Sort: results.SortEstimator, Chosen: true, Validation: map[string]float64{"loss": 1}}
	r := result(1, 10)
	r.Candidates = []results.Candidate{network, words}
	got, err := newRow(point{2, 10}, r)
	require.NoError(t, err)
	require.Equal(t, "Words", got.Model)
	require.Equal(t, "BERT tiny", got.Network)
	require.InDelta(t, 40, got.TrainingSeconds, 0)
	require.InDelta(t, 0.55, got.NetworkScore.Value, 0)
	require.InDelta(t, 0.6, got.Score.Value, 1e-9)
	require.Equal(t, 2, got.UsedWorkers)

	r.Candidates = []results.Candidate{words}
	_, err = newRow(point{1, 10}, r)
	require.ErrorContains(t, err, "choose a network with --param model=NAME")
	_, err = newRow(point{1, 10}, &results.Result{Kind: results.ResultCheck})
	require.ErrorContains(t, err, "trained nothing")
}

func TestThePageShowsTextsAsTexts(t *testing.T) {
	t.Parallel()
	made := swept(t, []int{1, 2, 3, 4, 8}, []int{1, 2, 5, 10, 30}, nil)
	var one, two bytes.Buffer
	require.NoError(t, made.writePage(&one))
	require.NoError(t, made.writePage(&two))
	require.Equal(t, one.String(), two.String())
	page := one.String()
	require.NotContains(t, page, "<script")
	require.NotContains(t, page, "<b>")
	require.NotContains(t, page, "NaN")
	for _, words := range []string{"Speed-up", "possible", "4 workers", "films &lt;b&gt;", "F1 on the test rows", "Peak memory"} {
		require.Contains(t, page, words)
	}
	require.NoError(t, (&table{}).writePage(&two), "a sweep without a finished training")
}
