package clowder

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/clienttest"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
)

// fixture is a dataset of pictures and what a model says of them.
type fixture struct {
	*deliveryTest
	session versions.Session
	made    results.Prediction
}

func newFixture(t *testing.T, pictures int) *fixture {
	t.Helper()
	return newFixtureIn(t, 2, pictures)
}

// newFixtureIn is newFixture with a version of Clowder.
func newFixtureIn(t *testing.T, version, pictures int) *fixture {
	t.Helper()
	b := &fixture{deliveryTest: newDeliveryTo(t, version, alice)}
	b.session = b.deliveryTest.session(t)
	b.rec.Kind, b.rec.Request.Extractor, b.rec.Settings = job.Predict, "ncsa.ray.predict", job.Settings{Write: "both"}
	sure := 0.75
	for i := range pictures {
		name := fmt.Sprintf("%03d.png", i)
		id, err := b.server.AddFile(b.rec.Request.DatasetID, name, strings.NewReader(name))
		require.NoError(t, err)
		b.made.PerFile = append(b.made.PerFile, results.FileAnswer{File: name, ID: id, Predicted: "wren", Confidence: &sure, Possible: "wren; owl"})
	}
	return b
}

// answer adds the predictions; the save with the number of cut fails, as a kill would.
func (f *fixture) answer(t *testing.T, cut int) error {
	t.Helper()
	saves := 0
	save := func(doc json.RawMessage) error {
		if saves++; saves == cut {
			return errCut
		}
		f.saved = doc
		return nil
	}
	ledger, err := delivery.OpenLedger(f.saved, save)
	require.NoError(t, err)
	e := f.platform.extractors.Of(f.rec.Request)
	err = answerFiles(t.Context(), f.session, ledger, e, f.rec, &f.made, func(text string) { f.said = append(f.said, text) })
	if err != nil {
		return err
	}
	notes, err := ledger.Encode()
	require.NoError(t, err)
	return save(notes)
}

func (f *fixture) requireOneEach(t *testing.T) {
	t.Helper()
	for _, a := range f.made.PerFile {
		have, err := clienttest.FileMetadata(t.Context(), f.session, a.ID)
		require.NoError(t, err)
		require.Len(t, have, 1, a.File)
		require.Equal(t, map[string]any{"run": run, "predicted": "wren", "confidence": 0.75, "possible": "wren; owl"}, have[0].Content)
		require.Equal(t, "ncsa.ray.predict", have[0].Listener)
	}
}

func TestEveryFileGetsItsPredictionOnceWhateverIsCut(t *testing.T) {
	t.Parallel()
	for n := range 8 { // before each of two batches, after the last one, and no cut, in both versions
		cut := n % 4
		b := newFixtureIn(t, 1+n/4, answerBatch+3)
		err := b.answer(t, cut)
		if cut > 0 {
			require.ErrorIs(t, err, errCut)
			err = b.answer(t, 0)
		}
		require.NoError(t, err)
		require.NoError(t, b.answer(t, 0), "doing it again changes nothing")
		b.requireOneEach(t)
	}
}

func TestAProxyThatFailsAfterTheInsertDoublesNothing(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 500)
	for i := range b.made.PerFile {
		b.made.PerFile[i].Version = 1
	}
	b.server.Fail(clowdertest.Fault{Method: http.MethodPost, Path: "/metadata", Status: http.StatusBadGateway, After: true, Times: 250})
	replace := func(a results.FileAnswer) {
		s := b.client.Bearer(job.Secret(b.server.Token(alice)))
		state, err := s.FileState(t.Context(), a.ID)
		require.NoError(t, err)
		_, err = s.Update(t.Context(), state, []byte("sharper"))
		require.NoError(t, err)
	}
	tries := 0
	for err := b.answer(t, 0); err != nil; err = b.answer(t, 0) {
		require.ErrorContains(t, err, "add the prediction to")
		if tries++; tries == 1 {
			replace(b.made.PerFile[0]) // between the insert and the repeat
			replace(b.made.PerFile[400])
		}
		require.Less(t, tries, 10)
	}
	require.Positive(t, tries)
	b.requireOneEach(t)
	for _, i := range []int{0, 400} {
		have, err := clienttest.FileMetadata(t.Context(), b.session, b.made.PerFile[i].ID)
		require.NoError(t, err)
		require.Equal(t, 1, have[0].FileVersion, "the version that was read")
	}
}

func TestAVersionThatIsGoneGetsNoPrediction(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 1)
	b.made.PerFile[0].Version = 7
	require.NoError(t, b.answer(t, 0))
	have, err := clienttest.FileMetadata(t.Context(), b.session, b.made.PerFile[0].ID)
	require.NoError(t, err)
	require.Empty(t, have)
}

func TestAPredictionThatFailsHalfwayGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 5)
	b.server.Fail(clowdertest.Fault{Method: http.MethodPost, Path: "/files/" + b.made.PerFile[3].ID + "/metadata", Status: http.StatusForbidden})
	require.ErrorContains(t, b.answer(t, 0), "add the prediction to 003.png")
	b.server.ClearFaults()
	require.NoError(t, b.answer(t, 0))
	b.requireOneEach(t)
}

func TestFilesThatAreGoneAndRowsOfTablesGetNoMetadata(t *testing.T) {
	t.Parallel()
	for _, version := range []int{1, 2} {
		b := newFixtureIn(t, version, 2)
		require.NoError(t, b.session.DeleteFile(t.Context(), b.made.PerFile[0].ID))
		require.NoError(t, b.answer(t, 0))
		b.made.PerFile = b.made.PerFile[1:]
		b.requireOneEach(t)
	}

	tables := newFixture(t, 0)
	require.NoError(t, tables.answer(t, 0))
	require.Len(t, tables.said, 1)
	require.Contains(t, tables.said[0], "no metadata is added to files")

	quiet := newFixture(t, 1)
	quiet.rec.Settings.Write = "csv_file"
	require.NoError(t, quiet.answer(t, 0))
	none, err := clienttest.FileMetadata(t.Context(), quiet.session, quiet.made.PerFile[0].ID)
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestAnExtractorThatClowderDoesNotKnowYetTriesAgain(t *testing.T) {
	t.Parallel()
	b := newFixture(t, 1)
	e := b.platform.extractors.Of(b.rec.Request)
	e.Queue = "renamed.predict"
	err := answerFile(t.Context(), b.session, e, run, b.made.PerFile[0], false)
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindRetryable, kind)
	require.ErrorContains(t, err, "before its next heartbeat")
}

func TestOnlyTheChosenModelOfEarlierRunsIsDownloaded(t *testing.T) {
	t.Parallel()
	for _, version := range []int{1, 2} {
		requireOnlyTheChosenModel(t, newDeliveryTo(t, version, alice))
	}
}

func requireOnlyTheChosenModel(t *testing.T, d *deliveryTest) {
	t.Helper()
	session, dataset := d.session(t), d.rec.Request.DatasetID
	require.NoError(t, d.deliver(t, "1", 0))
	_, err := d.server.AddFile(dataset, "new.csv", strings.NewReader("text\nfine\n"))
	require.NoError(t, err)
	files, err := session.Files(t.Context(), dataset)
	require.NoError(t, err)
	model := ""
	for _, f := range files {
		if f.Name == modelArchive {
			model = f.ID
		}
	}
	require.NotEmpty(t, model)
	for name, tc := range map[string]struct {
		settings map[string]any
		want     int
	}{
		"a training":                  {map[string]any{}, 1},
		"a prediction by name":        {map[string]any{"model_file": ""}, 1},
		"a prediction by a model.zip": {map[string]any{"model_file": model}, 2},
	} {
		d.rec.Settings = job.NewSettings(tc.settings)
		inputs, _, err := d.platform.Stage(t.Context(), d.rec, disk.Folder{Volume: t.TempDir()}, quiet)
		require.NoError(t, err)
		require.Len(t, inputs, tc.want, name)
	}
}

func TestModelsOfADatasetAreForThoseWhoMayReadIt(t *testing.T) {
	t.Parallel()
	for _, version := range []int{1, 2} {
		d := newDeliveryTo(t, version, bob)
		secret := d.server.AddDataset(alice, "Secret")
		for dataset, want := range map[string]bool{d.rec.Request.DatasetID: true, secret: false, "655fd7c3e4b0a1b2c3d4e5f6": false, "local": false} {
			may, err := d.platform.MayRead(t.Context(), d.rec, dataset)
			require.NoError(t, err)
			require.Equal(t, want, may, dataset)
		}
		d.rec.SecretKey = "expired"
		_, err := d.platform.MayRead(t.Context(), d.rec, secret)
		require.Error(t, err, "a key that is refused is no answer")
	}
}
