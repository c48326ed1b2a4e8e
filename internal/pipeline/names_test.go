package pipeline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/pipeline/model"
)

const hostA, hostB = "https://a.example.org", "https://b.example.org"

func TestAModelBelongsToTheClowderOfItsJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.platform.address = hostA
		b.accept(t, run, nil)
		b.runUntilOver(t)
		v, err := model.Of(b.get(t, run))
		require.NoError(t, err)
		require.Equal(t, hostA, v.Clowder)

		again := setupOn(t, b.dir, b.store)
		again.platform.address, again.platform.readable = hostB, strings.Repeat("d", 24)+strings.Repeat("e", 24)
		rec := jobtest.Record(asked, "h2")
		rec.Kind, rec.Request.Extractor, rec.Request.Parameters = job.Predict, "ncsa.ray.predict", map[string]any{"model": v.Ref()}
		_, _, err = again.store.Accept(t.Context(), rec)
		require.NoError(t, err)
		again.runUntilOver(t)
		require.Contains(t, again.get(t, asked).Ending.Text, "there is no model model/1", "a Clowder that says yes to everything gets no model of another one")
	})
}

func TestATrainingGoesOnWithoutAChampionThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		b.platform.address = hostA
		v := b.register(t, strings.Repeat("d", 24), "model", "ft-old")
		path := filepath.Join(filepath.Dir(b.registry.Model(v).Path()), "version.json")
		require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
		b.accept(t, run, nil)
		b.runUntilOver(t)
		require.Equal(t, job.Done, b.get(t, run).State)
		require.Nil(t, b.spec(t).Champion)
		notes := b.texts(run, "The new model")
		require.Len(t, notes, 1)
		require.Contains(t, notes[0],
			"The new model will not be compared with the current champion: the champion of the model model cannot be read: ask the administrator, or enter a version")
		made, err := model.Of(b.get(t, run))
		require.NoError(t, err)
		require.Equal(t, "model/2", made.Ref())
		require.Contains(t, made.Why, "the current champion cannot be read")
	})
}
