package pipeline

import (
	"encoding/json"
	"errors"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

const alice, bob = "alice@example.org", "bob@example.org"

// delivery is the Clowder platform on a double with an empty dataset of alice's, and a finished run to deliver.
type delivery struct {
	server   *clowdertest.Server
	platform *Clowder
	client   *clowder.Client
	rec      job.Record
	dir      string
	saved    json.RawMessage
	said     []string
	shown    int // artifacts that the dataset's page is to show
}

func newDelivery(t *testing.T, user string) *delivery {
	t.Helper()
	server, err := clowdertest.New(clowdertest.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	client, err := clowder.NewClient(clowder.Config{URL: server.URL, CacheDir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	d := &delivery{server: server, client: client, platform: NewClowder(client, extractors(t)), dir: t.TempDir()}
	dataset := server.AddDataset(alice, "Reviews")
	server.Share(dataset, bob, "uploader")
	d.rec = job.New(run, job.Request{APIVersion: 2, Kind: job.Dataset, DatasetID: dataset, ResourceID: dataset}, job.Secret(server.Key(user)))
	require.NoError(t, resultstest.Play(d.dir, run, 1))
	return d
}

// deliver delivers what version of the service makes of the run; the save with the number of cut fails, as a kill would.
func (d *delivery) deliver(t *testing.T, version string, cut int) error {
	t.Helper()
	result, failure, err := results.Read(d.dir, d.rec.Run, 1)
	require.NoError(t, err)
	require.Nil(t, failure)
	made := Delivery{Result: result, Meta: results.Meta{Run: d.rec.Run, Version: version, Started: time.Unix(0, 0), DatasetID: d.rec.Request.DatasetID}}
	made.Artifacts, err = results.Build(t.Context(), d.dir, result, made.Meta)
	require.NoError(t, err)
	d.shown = 0
	for _, a := range made.Artifacts {
		if a.Show.OnCard() {
			d.shown++
		}
	}
	saves := 0
	_, err = d.platform.Deliver(t.Context(), d.rec, made, LedgerFile{Saved: d.saved, Save: func(doc json.RawMessage) error {
		if saves++; saves == cut {
			return errCut
		}
		d.saved = doc
		return nil
	}}, func(text string) { d.said = append(d.said, text) })
	return err
}

var errCut = errors.New("killed")

// requireOneOfEach looks at the dataset as its user does.
func (d *delivery) requireOneOfEach(t *testing.T) {
	t.Helper()
	s, dataset := d.client.As(d.rec.SecretKey), d.rec.Request.DatasetID
	files, err := s.Files(t.Context(), dataset)
	require.NoError(t, err)
	names := map[string]int{}
	for _, f := range files {
		names[path.Base(f.Path)]++
		require.True(t, strings.HasPrefix(f.Path, resultsRoot+"/"), f.Path)
	}
	for _, name := range []string{modelArchive, "metrics.json", "predictions.csv", "report.html", "loss.png", "log.txt"} {
		require.Equal(t, 1, names[name], name)
	}
	for name, n := range names {
		require.Equal(t, 1, n, name)
	}
	shown, err := s.Visualizations(t.Context(), dataset)
	require.NoError(t, err)
	require.Len(t, shown, d.shown)
	require.Positive(t, d.shown)
	notes, err := s.Metadata(t.Context(), dataset)
	require.NoError(t, err)
	require.Len(t, notes, 1)
}

func TestADeliveryThatIsCutAnywhereIsCompletedOnce(t *testing.T) {
	t.Parallel()
	for cut := 1; ; cut++ {
		d := newDelivery(t, alice)
		err := d.deliver(t, "1", cut)
		if err == nil {
			require.Greater(t, cut, 20, "every save was cut once")
			return
		}
		require.ErrorIs(t, err, errCut)
		require.NoError(t, d.deliver(t, "1", 0), "cut at save %d", cut)
		d.requireOneOfEach(t)
	}
}

func TestADeliveryWithNewContentReplacesWhatWasDelivered(t *testing.T) {
	t.Parallel()
	d := newDelivery(t, alice)
	require.NoError(t, d.deliver(t, "1", 0))
	require.NoError(t, d.deliver(t, "2", 0))
	d.requireOneOfEach(t)
}

func TestACollaboratorHearsWhatTheOwnerDoesNotSee(t *testing.T) {
	t.Parallel()
	for user, notes := range map[string]int{alice: 0, bob: 1} {
		d := newDelivery(t, user)
		require.NoError(t, d.deliver(t, "1", 0))
		require.Len(t, d.said, notes, user)
	}
}
