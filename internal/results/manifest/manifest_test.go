package manifest_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

func TestManifestIsReadBack(t *testing.T) {
	t.Parallel()
	f := resultstest.NewGolden(t, results.ResultFile)
	f.Result.Model.BaseCommit = strings.Repeat("a", 40)
	var written bytes.Buffer
	require.NoError(t, manifest.Write(&written, f.Meta, &f.Result))
	f.Write(t, "manifest.json", written.Bytes())
	m, err := manifest.ReadManifest(f.Path("manifest.json"))
	require.NoError(t, err)
	require.Equal(t, manifest.New(f.Meta, &f.Result), m)
	require.Equal(t, f.Result.Model.WeightsSHA256, m.Model.WeightsSHA256)
	require.Equal(t, strings.Repeat("a", 40), m.Model.BaseCommit)
	require.Equal(t, f.Result.Data.SplitSHA256, m.SplitSHA256)
	parameters := m.Parameters()
	require.Len(t, parameters, len(f.Result.Settings))
	require.InDelta(t, 39, parameters["max_length"], 0, "what the trainer found is not left to chance again")

	require.Empty(t, m.Changed(f.Meta.Inputs))
	other := []job.Input{f.Meta.Inputs[0], {Name: "new.csv", SHA256: strings.Repeat("3", 64)}}
	other[0].SHA256 = strings.Repeat("9", 64)
	require.Equal(t, []string{"new.csv", "raw/train.csv", "test.csv"}, m.Changed(other))

	for name, doc := range map[string]string{
		"nothing":     "",
		"older":       `{"schema":1,"run":"ft-x","task":"t","dataset":{"sha256":"x"}}`,
		"another":     `{"mean":1}`,
		"no run":      `{"schema":2,"task":"t","dataset":{"sha256":"x"}}`,
		"a bad input": `{"schema":2,"run":"ft-x","task":"t","dataset":{"sha256":"x","files":[{"name":"a","path":"a","sha256":"no"}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "manifest.json")
			require.NoError(t, os.WriteFile(file, []byte(doc), 0o600))
			_, err := manifest.ReadManifest(file)
			require.ErrorContains(t, err, "use the manifest.json that a training delivered")
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
		})
	}
}

func TestAManifestNamesTheFilesThatWereNotRead(t *testing.T) {
	t.Parallel()
	f := resultstest.NewGolden(t, results.ResultFile)
	f.Meta.NotRead = []job.NotRead{{Name: "part2.csv", Reason: "it was still being uploaded"}}
	f.Result.Data.NotRead = []job.NotRead{{Name: "part2.csv", Reason: "it was still being uploaded"}, {Name: "cube.h5", Reason: "an HDF5 file"}}
	require.Equal(t, []job.NotRead{f.Result.Data.NotRead[1], f.Meta.NotRead[0]}, manifest.New(f.Meta, &f.Result).Dataset.NotRead)
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"schema":2,"run":"ft-x","task":"t","dataset":{"sha256":"x","files":[]},"settings":[{"name":"a","value":[1]}]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		m, err := manifest.DecodeManifest(doc)
		if err == nil {
			require.NotNil(t, m.Parameters())
			require.NotEmpty(t, m.Run)
		}
	})
}

func TestARepeatedSearchHasTheTrialsThatRan(t *testing.T) {
	t.Parallel()
	m := manifest.Manifest{
		Settings: []results.Setting{{Name: "learning_rate", Value: 0.002}, {Name: "minutes", Value: 10.0}, {Name: "epochs", Value: 3.0}},
		Search:   map[string]any{"learning_rate": 0.001, "minutes": 0.0, "space": "{learning_rate: 0.002}"},
	}
	require.Equal(t, map[string]any{"learning_rate": 0.001, "minutes": 0.0, "epochs": 3.0, "space": "{learning_rate: 0.002}"}, m.Parameters())
}
