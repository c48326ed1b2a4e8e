package sweep

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
)

// double is a Trainer that makes results at once. It fails from training number failsAt on.
type double struct {
	failsAt int
	fault   error
	made    []map[string]any
	closed  bool
}

func (d *double) Train(_ context.Context, _, out string, parameters map[string]any) (*results.Result, error) {
	if d.failsAt > 0 && len(d.made)+1 >= d.failsAt {
		return nil, d.fault
	}
	d.made = append(d.made, parameters)
	workers, _ := strconv.Atoi(parameters["num_workers"].(string))
	epochs, _ := strconv.Atoi(parameters["epochs"].(string))
	return result(workers, epochs), os.MkdirAll(out, 0o750)
}

func (d *double) Close() error {
	d.closed = true
	return nil
}

// result is that of a training that two workers speed up by 1.8, and that gets better with epochs.
func result(workers, epochs int) *results.Result {
	seconds := 10 * float64(epochs) / (1 + 0.8*float64(workers-1))
	low, high := 0.5+0.01*float64(epochs)-0.02, 0.5+0.01*float64(epochs)+0.02
	score := results.Score{Value: 0.5 + 0.01*float64(epochs), Low: &low, High: &high, N: 200}
	waits := 0.05
	r := &results.Result{
		Kind: results.ResultTraining, Run: "ft-one", Task: "text-classification", Metric: "f1_macro", Seconds: seconds + 5,
		Model: results.Model{Base: "bert-tiny"}, Hardware: results.Hardware{CPU: "A CPU", Cores: 2, MemoryBytes: 8 << 30},
		Metrics: results.Metrics{Test: results.Scores{"f1_macro": score, "accuracy": {Value: 0.9, N: 200}}},
		Training: results.Training{
			Workers: workers, Threads: 1, Seconds: seconds, SamplesPerSecond: 1000 * float64(workers), Epochs: float64(epochs), Stopped: "all epochs done",
		},
	}
	for rank := range workers {
		w := results.Worker{Rank: rank, Node: "host", SamplesPerSecond: 1000, CPUSeconds: seconds, Seconds: seconds, PeakMemoryBytes: 1 << 30}
		if workers > 1 {
			w.WaitingShare = &waits
		}
		r.Training.PerWorker = append(r.Training.PerWorker, w)
	}
	return r
}

// execute runs the command with a trainer on a small folder.
func execute(t *testing.T, trainer *double, dataset, out string, args ...string) (string, error) {
	t.Helper()
	var printed bytes.Buffer
	cmd := Command(Environment{Stdout: &printed, Open: func(*cobra.Command) (Trainer, error) { return trainer, nil }})
	cmd.SetArgs(append([]string{dataset, "--out", out}, args...))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(t.Context())
	return printed.String(), err
}

func dataset(t *testing.T, content string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "films")
	require.NoError(t, os.Mkdir(dir, 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "train.csv"), []byte(content), 0o600))
	return dir
}

func TestASweepTrainsEachNumberOfWorkersAndEpochsOnce(t *testing.T) {
	t.Parallel()
	data, out, trainer := dataset(t, "a"), filepath.Join(t.TempDir(), "new", "sweep"), &double{}
	printed, err := execute(t, trainer, data, out, "--workers", "2, 1,2", "--epochs", "30,10", "--param", "seed=3", "--param", "early_stopping_patience=4")
	require.NoError(t, err)
	require.True(t, trainer.closed)
	var order [][2]any
	for _, made := range trainer.made {
		order = append(order, [2]any{made["epochs"], made["num_workers"]})
		require.Equal(t, "3", made["seed"])
		require.Equal(t, "4", made["early_stopping_patience"])
		require.Equal(t, "no", made["make_champion"])
	}
	require.Equal(t, [][2]any{{"10", "1"}, {"10", "2"}, {"30", "1"}, {"30", "2"}}, order)
	require.Contains(t, printed, "2 workers: 1.80 times the speed of 1 worker (90 % of what is possible), with 30 epochs.")
	for _, name := range []string{"sweep.json", "sweep.csv", "sweep.html", "workers-1-epochs-10", "workers-2-epochs-30"} {
		_, err := os.Stat(filepath.Join(out, name))
		require.NoError(t, err)
	}
}

func TestASweepGoesOnAfterAnInterruption(t *testing.T) {
	t.Parallel()
	data, out := dataset(t, "a"), t.TempDir()
	interrupted := &double{failsAt: 3, fault: errors.New("interrupted")}
	_, err := execute(t, interrupted, data, out)
	require.ErrorContains(t, err, "1 worker, 30 epochs: interrupted\nThe same command goes on with this training")
	require.True(t, interrupted.closed)
	csv, err := os.ReadFile(filepath.Join(out, "sweep.csv"))
	require.NoError(t, err)
	require.Equal(t, 3, bytes.Count(csv, []byte("\n")))

	next := &double{}
	printed, err := execute(t, next, data, out)
	require.NoError(t, err)
	require.Len(t, next.made, 2)
	require.Contains(t, printed, "2 trainings of 4 finished earlier")

	more := &double{}
	_, err = execute(t, more, data, out, "--workers", "1,2,4")
	require.NoError(t, err)
	require.Len(t, more.made, 2)

	// Nothing is left, so no Ray is started.
	nothing := &double{}
	printed, err = execute(t, nothing, data, out)
	require.NoError(t, err)
	require.False(t, nothing.closed)
	require.Contains(t, printed, "Workers")
}

func TestASweepRefusesWhatItCannotCompare(t *testing.T) {
	t.Parallel()
	data, out := dataset(t, "a"), t.TempDir()
	_, err := execute(t, &double{}, data, out, "--param", "seed=1")
	require.NoError(t, err)
	broken := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(broken, "sweep.json"), []byte("{"), 0o600))
	newer := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(newer, "sweep.json"), []byte(`{"schema": 9}`), 0o600))
	for name, tc := range map[string]struct {
		data, out string
		args      []string
		want      string
	}{
		"other data":              {dataset(t, "b"), out, []string{"--param", "seed=1"}, "a sweep of other data (films)"},
		"other options":           {data, out, []string{"--param", "seed=2", "--param", "batch_size=8"}, "with other options (batch_size, seed)"},
		"a broken state":          {data, broken, nil, "sweep.json in the folder of --out cannot be read"},
		"a newer state":           {data, newer, nil, "sweep.json in the folder of --out cannot be read"},
		"no dataset":              {filepath.Join(out, "none"), out, nil, "the dataset folder cannot be read"},
		"no folder for results":   {data, "", nil, "--out is missing"},
		"no number":               {data, out, []string{"--workers", "two"}, "--workers two: must be whole numbers"},
		"nothing between commas":  {data, out, []string{"--epochs", "1,,2"}, "--epochs 1,,2: must be whole numbers"},
		"zero workers":            {data, out, []string{"--workers", "0"}, "from 1 to"},
		"very many trainings":     {data, out, []string{"--workers", "1,2,3,4,5,6,7,8,9,10,11", "--epochs", "1,2,3,4,5,6,7,8,9,10"}, "at most 100 trainings, not 110"},
		"workers as an option":    {data, out, []string{"--param", "num_workers=2"}, "use --workers"},
		"epochs as an option":     {data, out, []string{"--param", "epochs=2"}, "use --epochs"},
		"a dry run":               {data, out, []string{"--param", "dry_run=true"}, "a sweep compares trainings"},
		"an option without value": {data, out, []string{"--param", "seed"}, "must have the form key=value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trainer := &double{}
			_, err := execute(t, trainer, tc.data, tc.out, tc.args...)
			require.ErrorContains(t, err, tc.want)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
			require.Empty(t, trainer.made)
		})
	}
}

func TestAWrongParameterIsNotBlamedOnAnInterruption(t *testing.T) {
	t.Parallel()
	_, err := execute(t, &double{failsAt: 1, fault: job.Permanent(errors.New("no such option"))}, dataset(t, "a"), t.TempDir())
	require.EqualError(t, err, "1 worker, 10 epochs: no such option")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
}
