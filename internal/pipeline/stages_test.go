package pipeline

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
)

// fakeStudio counts what is shown of runs that go on.
type fakeStudio struct {
	mu    sync.Mutex
	shown map[string]int
	calls []string
	err   error
}

func (f *fakeStudio) Link(run string) string { return "https://studio.example.org/runs/" + run }

func (f *fakeStudio) Show(_ context.Context, rec job.Record) error { return f.note("show", rec.Run, 1) }

func (f *fakeStudio) Hide(_ context.Context, rec job.Record) error { return f.note("hide", rec.Run, 0) }

func (f *fakeStudio) note(call, run string, shown int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, call)
	f.shown[run] = shown
	return f.err
}

func TestUsersAreLedToTheStudio(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		state job.State
		form  map[string]any
	}{
		"a training":                         {state: job.Done},
		"a training with a wrong setting":    {state: job.Failed, form: map[string]any{"epochs": "many"}},
		"Clowder refuses what shows the run": {state: job.Done, err: errors.New("refused")},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				studio := &fakeStudio{shown: map[string]int{}, err: c.err}
				b := setup(t, func(cfg *Config) { cfg.Studio = studio })
				b.accept(t, "ft-one", c.form)
				b.runUntilOver(t)
				require.Equal(t, c.state, b.get(t, "ft-one").State)
				require.Equal(t, 0, studio.shown["ft-one"])
				require.Equal(t, "hide", studio.calls[len(studio.calls)-1])
				sent := b.published.of("ft-one")
				require.True(t, strings.HasSuffix(sent[0].Text, " https://studio.example.org/runs/ft-one"), sent[0].Text)
				require.True(t, strings.HasSuffix(sent[len(sent)-1].Text, " https://studio.example.org/runs/ft-one"), sent[len(sent)-1].Text)
				require.NotContains(t, b.get(t, "ft-one").Ending.Text, "studio")
				if c.state == job.Done {
					require.Contains(t, studio.calls, "show")
					require.Equal(t, "https://studio.example.org/runs/ft-one", b.platform.last.Content["studio_url"])
				}
			})
		})
	}
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

func TestFilesThatAreStillBeingUploadedAreNamedToTheUserAndToTheTraining(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.platform.late = []job.NotRead{{Name: "train_part2.csv", Reason: "it was still being uploaded when the run began"}}
		b.accept(t, run, nil)
		b.runUntilOver(t)
		require.Equal(t, b.platform.late, b.get(t, run).NotRead)
		require.Len(t, b.texts(run, "Left out 1 file of the dataset: train_part2.csv (it was still being uploaded"), 1)
		doc, err := os.ReadFile(filepath.Join(b.cfg.Volume.Run(run).Path(), "spec.json"))
		require.NoError(t, err)
		require.Contains(t, string(doc), `"not_read"`)
		require.Contains(t, string(doc), "train_part2.csv")
	})
}

// TestAJobOfManyDatasetsSaysItOnce, however many turns its staging takes, and is staged in the end.
func TestAJobOfManyDatasetsSaysItOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.platform.turns = 3
		b.platform.late = []job.NotRead{{Name: "train_part2.csv", Reason: "it was still being uploaded when the run began"}}
		b.accept(t, run, map[string]any{"more_options": "data.datasets: search:plot"})
		b.runUntilOver(t)
		rec := b.get(t, run)
		require.Equal(t, job.Done, rec.State)
		require.Equal(t, "search:plot", rec.Settings.Datasets)
		require.Zero(t, rec.Failures)
		require.Equal(t, -1, b.platform.turns, "three turns and the last one")
		require.Len(t, b.texts(run, "Left out"), 1)
	})
}
