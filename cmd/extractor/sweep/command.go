package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform/folder"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/text"
)

// Environment is what the command needs from the program.
type Environment struct {
	Stdout io.Writer
	// Open starts what all trainings of a sweep share, such as a Ray on this machine.
	Open func(cmd *cobra.Command) (Trainer, error)
}

// Trainer carries out trainings, one after the other.
type Trainer interface {
	// Train trains on the files of the folder dataset, writes the deliverables into the folder out, and returns the result.
	Train(ctx context.Context, dataset, out string, parameters map[string]any) (*results.Result, error)
	Close() error
}

// maxRuns bounds the trainings of one sweep, and maxNumber the workers and the epochs of one training.
const (
	maxRuns   = 100
	maxNumber = 10_000
)

// Command returns the command sweep.
func Command(env Environment) *cobra.Command {
	const usage = "sweep DATASET_DIR --out DIR [--workers 1,2] [--epochs 10,30]"
	cmd := &cobra.Command{
		Use: usage, Short: "Train with several numbers of workers and epochs, and compare time and scores",
		Long: "Trains on the files of a folder once for each number of workers and each number of epochs, one training after the other.\n" +
			"It writes a table (sweep.csv), a page with charts (sweep.html) and the results of each training into the folder of --out.\n" +
			"After an interruption, the same command goes on: a finished training is not repeated.\n" +
			"A training does not end early (early_stopping_patience=0), so that all of them do the same work, and no model becomes the\n" +
			"champion (make_champion=no). --param changes both.\n" +
			"Exit codes: 0 for success, 2 if the data or a parameter must be changed, 1 for any other error.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return job.Permanent(errors.New("usage: extractor " + usage))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := newRequest(cmd, args[0])
			if err != nil {
				return err
			}
			return env.run(cmd, r)
		},
	}
	cmd.Flags().String("out", "", "folder for the table, the page and the results (required)")
	cmd.Flags().String("workers", "1,2", "numbers of workers, separated by commas")
	cmd.Flags().String("epochs", "10,30", "numbers of epochs, separated by commas")
	cmd.Flags().StringArray("param", nil, "option of every training as key=value, see docs/training.md; can be repeated")
	cmd.Flags().String("ray", "", "address of the Ray cluster to use; without it and without RAY_ADDRESS, a Ray is started on this machine")
	return cmd
}

// request is a sweep as given on the command line.
type request struct {
	dataset, out    string
	workers, epochs []int
	parameters      map[string]string
}

func newRequest(cmd *cobra.Command, dataset string) (r request, err error) {
	r.dataset = dataset
	if r.out, _ = cmd.Flags().GetString("out"); r.out == "" {
		return r, job.Permanent(errors.New("--out is missing: set it to the folder for the results"))
	}
	for name, into := range map[string]*[]int{"workers": &r.workers, "epochs": &r.epochs} {
		given, _ := cmd.Flags().GetString(name)
		if *into, err = numbers(given); err != nil {
			return r, job.Permanent(fmt.Errorf("--%s %s: %w", name, given, err))
		}
	}
	if runs := len(r.workers) * len(r.epochs); runs > maxRuns {
		return r, job.Permanent(fmt.Errorf("a sweep makes at most %d trainings, not %d: name fewer numbers", maxRuns, runs))
	}
	pairs, _ := cmd.Flags().GetStringArray("param")
	r.parameters, err = parameters(pairs)
	return r, err
}

// numbers reads whole numbers that are separated by commas. They are returned in order, each once.
func numbers(given string) ([]int, error) {
	var out []int
	for word := range strings.SplitSeq(given, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 || n > maxNumber {
			return nil, fmt.Errorf("must be whole numbers from 1 to %d, separated by commas", maxNumber)
		}
		out = append(out, n)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// parameters reads the key=value pairs that hold for every training.
func parameters(pairs []string) (map[string]string, error) {
	out := map[string]string{"early_stopping_patience": "0", "make_champion": "no"}
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		switch {
		case !ok || key == "":
			return nil, job.Permanent(fmt.Errorf("--param %s: must have the form key=value", pair))
		case key == "num_workers":
			return nil, job.Permanent(errors.New("--param num_workers: use --workers"))
		case key == "epochs":
			return nil, job.Permanent(errors.New("--param epochs: use --epochs"))
		case key == "dry_run":
			return nil, job.Permanent(errors.New("--param dry_run: a sweep compares trainings: leave it out"))
		}
		out[key] = value
	}
	return out, nil
}

// run carries out what is left of the sweep. The table, the page and sweep.json are written after each training.
func (env Environment) run(cmd *cobra.Command, r request) (err error) {
	data, err := folder.New(r.dataset, r.out)
	if err != nil {
		return err
	}
	inputs, err := data.Inputs(cmd.Context())
	if err != nil {
		return err
	}
	table, err := open(r.out, newTable(r, inputs))
	if err != nil {
		return err
	}
	left := table.left(r)
	if done := len(r.workers)*len(r.epochs) - len(left); done > 0 {
		env.say("%s of %d finished earlier", text.Count(done, "training"), done+len(left))
	}
	if len(left) > 0 {
		if err := env.train(cmd, r, table, left); err != nil {
			return err
		}
	}
	if err := table.write(r.out); err != nil {
		return err
	}
	_, err = fmt.Fprint(env.Stdout, table.lines())
	return err
}

// train carries out the trainings in left, and adds them to the table.
func (env Environment) train(cmd *cobra.Command, r request, table *table, left []point) (err error) {
	trainer, err := env.Open(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, trainer.Close()) }()
	for i, p := range left {
		env.say("Training %d of %d: %s", i+1, len(left), p.name())
		values := map[string]any{"num_workers": strconv.Itoa(p.Workers), "epochs": strconv.Itoa(p.Epochs)}
		for key, value := range r.parameters {
			values[key] = value
		}
		result, err := trainer.Train(cmd.Context(), r.dataset, p.folder(r.out), values)
		if err != nil {
			return failed(p, err)
		}
		row, err := newRow(p, result)
		if err != nil {
			return err
		}
		table.add(row)
		if err := table.write(r.out); err != nil {
			return err
		}
	}
	return nil
}

// failed says which training failed, and what happens next.
func failed(p point, err error) error {
	err = fmt.Errorf("%s: %w", p.name(), err)
	if kind, _ := job.Classify(err); kind == job.KindPermanent {
		return err
	}
	return fmt.Errorf("%w\nThe same command goes on with this training", err)
}

func (env Environment) say(format string, values ...any) {
	_, _ = fmt.Fprintf(env.Stdout, format+"\n", values...)
}
