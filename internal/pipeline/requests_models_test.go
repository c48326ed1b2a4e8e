package pipeline

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/registry"
)

// made registers a version of the dataset's model, of which the first becomes the champion.
func (b *bench) made(t *testing.T, run, name string, accuracy float64, created time.Time) {
	t.Helper()
	b.madeIn(t, strings.Repeat("d", 24), run, name, accuracy, created)
}

func (b *bench) madeIn(t *testing.T, dataset, run, name string, accuracy float64, created time.Time) {
	t.Helper()
	low, high := accuracy-0.05, accuracy+0.05
	_, err := b.registry.Register(t.Context(), registry.Version{
		Name: name, Run: run, Clowder: b.platform.address, DatasetID: dataset, Task: "text-classification", Kind: "text", Base: "bert-tiny", Metric: "accuracy",
		Test: &registry.Score{Value: accuracy, Low: &low, High: &high, N: 40}, Created: created, WeightsSHA256: run,
	}, b.emptyModel(t), func(champion *registry.Version) (bool, string) { return champion == nil, "it is the first" })
	require.NoError(t, err)
}

func (b *bench) emptyModel(t *testing.T) disk.Folder {
	t.Helper()
	dir := disk.Folder{Volume: t.TempDir(), Name: "model"}
	require.NoError(t, os.Mkdir(dir.Path(), 0o700))
	return dir
}

func TestTheModelsOfADatasetAreCompared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.platform.readable = strings.Repeat("d", 24)
		began := time.Now()
		b.made(t, "ft-1", "stars", 0.7, began)
		b.made(t, "ft-2", "reviews", 0.8, began.Add(time.Minute))
		b.made(t, "ft-3", "stars", 0.9, began.Add(time.Hour))
		b.ask(t, map[string]any{"action": "models"})
		b.runUntilOver(t)
		said := texts(b.published.of(asked))
		require.Equal(t, []string{
			"Stars/1, the champion: accuracy 0.700 (0.650 to 0.750) on 40 test rows, text-classification from bert-tiny, made 2000-01-01 00:00 UTC by run ft-1",
			"Reviews/1, the champion: accuracy 0.800 (0.750 to 0.850) on 40 test rows, text-classification from bert-tiny, made 2000-01-01 00:01 UTC by run ft-2",
			"Stars/2: accuracy 0.900 (0.850 to 0.950) on 40 test rows, text-classification from bert-tiny, made 2000-01-01 01:00 UTC by run ft-3",
			"3 versions in this dataset; champions: stars/1, reviews/1",
		}, said[1:])
	})
}

func TestModelsAreNotListedForThoseWhoMayNotSeeTheDataset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.made(t, "ft-1", "stars", 0.7, time.Now())
		b.ask(t, map[string]any{"action": "models"})
		b.runUntilOver(t)
		require.Contains(t, b.get(t, asked).Ending.Text, "you cannot view this dataset")
		require.NotContains(t, strings.Join(texts(b.published.of(asked)), "\n"), "stars")
	})
}

func TestAModelIsPromoted(t *testing.T) {
	for wanted, champion := range map[string]string{"stars/2": "stars/2", "ft-2": "stars/2", "stars": "stars/3", "": "stars/3", "stars/1": "stars/1"} {
		t.Run(wanted, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				for i, run := range []string{"ft-1", "ft-2", "ft-3"} {
					b.made(t, run, "stars", 0.9-float64(i)/10, time.Now().Add(time.Duration(i)*time.Minute))
				}
				b.ask(t, map[string]any{"action": "promote", "run": wanted})
				b.runUntilOver(t)
				require.Equal(t, job.Done, b.get(t, asked).State)
				require.Equal(t, champion+" is now the champion: predictions with stars@champion use it", b.get(t, asked).Ending.Text)
				got, err := b.registry.Champion(registry.Dataset{ID: strings.Repeat("d", 24)}, "stars")
				require.NoError(t, err)
				require.Equal(t, champion, got.Ref())
				require.Len(t, b.platform.notes, 1)
				require.Equal(t, champion, b.platform.notes[0]["champion"])
			})
		})
	}
}

func TestWhatCannotBePromoted(t *testing.T) {
	for name, tc := range map[string]struct {
		wanted string
		denied bool
		want   string
	}{
		"a version that is not there":      {"stars/7", false, "there is no model stars/7: this dataset has stars/1"},
		"a model of somebody else":         {"stars/1", true, "it was started by bob"},
		"what is no name of a model":       {"../../x", false, "write a name, name/3"},
		"a model that another dataset has": {"birds/1", false, "there is no model birds/1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				b.platform.denied = tc.denied
				b.made(t, "ft-1", "stars", 0.7, time.Now())
				b.ask(t, map[string]any{"action": "promote", "run": tc.wanted})
				b.runUntilOver(t)
				require.Equal(t, job.Failed, b.get(t, asked).State)
				require.Contains(t, b.get(t, asked).Ending.Text, tc.want)
				require.Empty(t, b.platform.notes)
			})
		})
	}
}

func TestAModelIsExported(t *testing.T) {
	own, other := strings.Repeat("d", 24), strings.Repeat("e", 24)
	for name, tc := range map[string]struct {
		wanted, readable string
		want             string
	}{
		"a version":                   {"stars/1", own, "stars/1"},
		"the champion":                {"stars@champion", own, "stars/1"},
		"the newest":                  {"", own, "stars/2"},
		"a run":                       {"ft-2", own, "stars/2"},
		"a model of another dataset":  {"birds", own + " " + other, "birds/1"},
		"after two failed deliveries": {"stars/1", own, "stars/1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				b.platform.readable = tc.readable
				if strings.HasPrefix(name, "after") {
					b.platform.refuse = []error{job.Retryable(errors.New("Clowder is down")), job.Unknown(errors.New("no answer"))}
				}
				b.made(t, "ft-1", "stars", 0.9, time.Now())
				b.made(t, "ft-2", "stars", 0.8, time.Now().Add(time.Minute))
				b.madeIn(t, other, "ft-3", "birds", 0.7, time.Now().Add(-time.Minute))
				b.ask(t, map[string]any{"action": "export", "run": tc.wanted})
				b.runUntilOver(t)
				rec := b.get(t, asked)
				require.Equal(t, job.Done, rec.State, "%+v", rec.Ending)
				require.Regexp(t, "^The model "+tc.want+` \([0-9.]+ (B|KiB)\) is now in this dataset. Results in folder x$`, rec.Ending.Text)
				d := b.platform.last
				require.Equal(t, "finetune", d.Folders[0])
				require.Contains(t, d.Folders[1], "export-"+strings.ReplaceAll(tc.want, "/", "-"))
				require.Len(t, d.Artifacts, 1)
				require.Equal(t, "model.zip", d.Artifacts[0].Name)
				archive, err := d.Artifacts[0].Open()
				require.NoError(t, err)
				size, err := io.Copy(io.Discard, archive)
				require.NoError(t, errors.Join(err, archive.Close()))
				require.Equal(t, d.Artifacts[0].Size, size)
				require.Equal(t, "export", d.Content["kind"])
				require.Equal(t, asked, d.Content["run"], "by which the entry is found again")
				require.Empty(t, b.ray.submits)
				require.Empty(t, rec.SecretKey.Reveal())
			})
		})
	}
}

func TestWhatCannotBeExported(t *testing.T) {
	own := strings.Repeat("d", 24)
	for name, tc := range map[string]struct{ wanted, readable, want string }{
		"a version that is not there":             {"stars/7", own, "there is no model stars/7: this dataset has stars/1"},
		"a model of a dataset that is not shared": {"birds", own, "there is no model birds"},
		"a dataset that the user may not see":     {"stars/1", "", "you cannot view this dataset"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				b.platform.readable = tc.readable
				b.made(t, "ft-1", "stars", 0.7, time.Now())
				b.madeIn(t, strings.Repeat("e", 24), "ft-3", "birds", 0.7, time.Now())
				b.ask(t, map[string]any{"action": "export", "run": tc.wanted})
				b.runUntilOver(t)
				require.Equal(t, job.Failed, b.get(t, asked).State)
				require.Contains(t, b.get(t, asked).Ending.Text, tc.want)
				require.Empty(t, b.platform.delivered)
			})
		})
	}
}
