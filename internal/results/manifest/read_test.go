package manifest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

func TestAManifestThatIsNotThereIsNotGuessed(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		place func(path string) error
		is    error
		kind  job.Kind
		text  string
	}{
		"no folder": {
			func(path string) error { return os.Remove(filepath.Dir(path)) }, fs.ErrNotExist, job.KindPermanent, "open the folder of the manifest: ",
		},
		"no file": {func(string) error { return nil }, fs.ErrNotExist, job.KindRetryable, "read manifest.json: "},
		"a link to another file": {
			func(path string) error { return os.Symlink("/etc/passwd", path) }, disk.ErrNotAllowed, job.KindPermanent, "read manifest.json: ",
		},
		"a folder in its place": {func(path string) error { return os.Mkdir(path, 0o755) }, disk.ErrNotAllowed, job.KindPermanent, "read manifest.json: "},
		"more than any run writes": {
			func(path string) error {
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					return err
				}
				return os.Truncate(path, 64<<20+1) // a hole takes no room
			}, disk.ErrTooLarge, job.KindPermanent, "read manifest.json: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "run", "manifest.json")
			require.NoError(t, os.Mkdir(filepath.Dir(file), 0o755))
			require.NoError(t, tc.place(file))
			m, err := manifest.ReadManifest(file)
			require.ErrorIs(t, err, tc.is)
			require.ErrorContains(t, err, tc.text)
			kind, _ := job.Classify(err)
			require.Equal(t, tc.kind, kind)
			require.Zero(t, m)
		})
	}
}

func TestTheManifestOfAPredictionNamesTheModelThatPredicted(t *testing.T) {
	t.Parallel()
	r, err := results.DecodeResult(resultstest.Golden(t, "result-prediction.json"))
	require.NoError(t, err)
	p := r.Prediction.Model
	meta := resultstest.LikelyMeta(r)
	meta.Model = manifest.ModelVersion{Name: "another model, which this run did not make", Version: 9}
	m := manifest.New(meta, r)
	require.Equal(t, &manifest.Model{Base: p.Base, Run: p.Run, Name: p.Name, Version: p.Version}, m.Model)
	require.Empty(t, m.Search)
	require.Nil(t, m.Script)
}

func TestAManifestIsTheSameForTheSameRun(t *testing.T) {
	t.Parallel()
	f := resultstest.NewGolden(t, results.ResultFile)
	write := func() string {
		var out bytes.Buffer
		require.NoError(t, manifest.Write(&out, f.Meta, &f.Result))
		return out.String()
	}
	want := write()
	outputs, inputs := f.Result.Outputs, f.Meta.Inputs
	for name, change := range map[string]func(){
		"inputs in another order":  func() { f.Meta.Inputs = backwards(inputs) },
		"outputs in another order": func() { f.Result.Outputs = backwards(outputs) },
		"a clock in another zone":  func() { f.Meta.Started = f.Meta.Started.In(time.FixedZone("west", -8*60*60)) },
	} {
		change()
		require.Equal(t, want, write(), name)
	}
	require.Equal(t, backwards(outputs), f.Result.Outputs, "the result itself keeps its order")
}

// backwards is a list in the other order.
func backwards[T any](list []T) []T {
	out := make([]T, len(list))
	for i, v := range list {
		out[len(list)-1-i] = v
	}
	return out
}

func TestTheDifferencesOfTwoRunsAreBoundedAndPlain(t *testing.T) {
	t.Parallel()
	first, again := made(), made()
	again.Dataset.Files = nil
	for i := range 1000 {
		again.Dataset.Files = append(again.Dataset.Files, job.Input{Name: fmt.Sprintf("%04d\n\x1b[2J%s", i, strings.Repeat("x", 500)), SHA256: sum("1")})
	}
	again.Versions = map[string]string{"torch": "2\x1b[2J\n.15", "ray": strings.Repeat("9", 9999)}
	differences := first.Differences(again)
	require.Len(t, differences, 4, "%q", differences)
	require.Contains(t, differences[0], " and 902 more", "of 1,002 files that differ")
	for _, words := range differences {
		require.NotRegexp(t, `[\x00-\x1f]`, words)
		require.Less(t, len(words), 100*70)
	}
}

func TestAFileWithoutANameOrASumIsNoInput(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]job.Input{
		"no name":           {SHA256: sum("1")},
		"no sum":            {Name: "a.csv"},
		"a sum in capitals": {Name: "a.csv", SHA256: strings.ToUpper(sum("a"))},
		"a hostile name":    {Name: "a\n\x1b[2J" + strings.Repeat("x", 5000), SHA256: "no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := manifest.Manifest{Schema: 2, Run: "ft-x", Task: "t", Dataset: manifest.Dataset{SHA256: sum("1"), Files: []job.Input{in}}}
			doc, err := json.Marshal(m)
			require.NoError(t, err)
			_, err = manifest.DecodeManifest(doc)
			require.ErrorContains(t, err, "has no name or no sha256")
			require.NotRegexp(t, `[\x00-\x1f]`, err.Error())
			require.Less(t, len(err.Error()), 300)
		})
	}
}
