package results_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

func TestFilesOfATrainingAreOfHarmlessKinds(t *testing.T) {
	t.Parallel()
	const other, pickle = "files of this type are not delivered", "Python pickle"
	for name, tc := range map[string]struct{ path, body, text string }{
		"a table":                            {"out/rows.csv", "a,b\n", ""},
		"an empty text":                      {"out/notes.txt", "", ""},
		"an ending in capitals":              {"out/model/README.MD", "# Model", ""},
		"a template":                         {"out/model/chat_template.jinja", "{{ x }}", ""},
		"a table of Parquet":                 {"out/nodes.parquet", "PAR1rows", ""},
		"a Parquet table that is none":       {"out/nodes.parquet", "rows", "no Parquet table"},
		"a TIFF picture":                     {"out/answers/a.tif", "II*\x00\x08", ""},
		"a TIFF picture that is none":        {"out/answers/a.tif", "rows", "no TIFF picture"},
		"polygons as text":                   {"out/answers/a.geojson", "{}", ""},
		"a GeoPackage":                       {"out/answers/a.gpkg", "SQLite format 3\x00" + strings.Repeat("\x00", 52) + "GPKG", ""},
		"another database":                   {"out/answers/a.gpkg", "SQLite format 3\x00" + strings.Repeat("\x00", 56), "no GeoPackage"},
		"a GeoPackage that is none":          {"out/answers/a.gpkg", "rows", "no GeoPackage"},
		"events of TensorBoard":              {"out/tensorboard/events.out.tfevents.1.host", "\x18\x00", ""},
		"events in another place":            {"out/events.out.tfevents.1.host", "\x18\x00", other},
		"another file beside the events":     {"out/tensorboard/plugin.js", "x", other},
		"a pickle among the events":          {"out/tensorboard/events.out.tfevents.1.host", "\x80\x04\x95", pickle},
		"a program":                          {"out/run.sh", "#!/bin/sh", other},
		"a page":                             {"out/page.html", "<script>", other},
		"a drawing that may hold a script":   {"out/drawing.svg", "<svg>", other},
		"a file without an ending":           {"out/model/LICENSE", "free", other},
		"a name that is an ending":           {"out/.json", "{}", ""},
		"an archive by its bytes":            {"out/model/vocab.json", "PK\x03\x04", pickle},
		"a pickle of the oldest protocol":    {"out/model/vocab.txt", "\x80\x02}", pickle},
		"bytes that are like those of one":   {"out/model/vocab.txt", "\x80\x01}", ""},
		"a pickle with the ending of a page": {"out/x.html", "\x80\x05}", pickle},
		"one byte":                           {"out/x.txt", "\x80", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := resultstest.New(t)
			f.Write(t, tc.path, []byte(tc.body))
			f.List(t, tc.path)
			f.WriteJSON(t, results.ResultFile, f.Result)
			r, _, err := results.Read(f.Run(), resultstest.TestRun, 1)
			if tc.text == "" {
				require.NoError(t, err)
				require.NotNil(t, r)
				return
			}
			require.ErrorContains(t, err, tc.path+": ")
			require.ErrorContains(t, err, tc.text)
			require.ErrorContains(t, err, "ask the administrator to check the training program")
		})
	}
}

func TestAFinishedRunIsReadWithoutItsFiles(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		golden string
		file   string
		read   func(disk.Folder) (*results.Result, error)
	}{
		"a result":                  {"result-script.json", results.ResultFile, results.ReadFinished},
		"what a failed script left": {"result-script-partial.json", results.PartialFile, results.ReadLeft},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := resultstest.NewGolden(t, tc.golden)
			require.NoError(t, os.RemoveAll(f.Path("out")))
			r, err := tc.read(f.Run())
			require.NoError(t, err)
			require.Equal(t, &f.Result, r)

			f.Write(t, tc.file, []byte(`{"schema":2}`))
			_, err = tc.read(f.Run())
			require.ErrorContains(t, err, "kind", "it is held against its contract")

			require.NoError(t, os.Remove(f.Path(tc.file)))
			_, err = tc.read(f.Run())
			require.ErrorIs(t, err, fs.ErrNotExist)
		})
	}
	_, err := results.ReadFinished(disk.Folder{Volume: t.TempDir(), Name: "runs/ft-none"})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "open the run folder")
}

func TestAFileThatIsTooLargeIsNotRead(t *testing.T) {
	t.Parallel()
	f := resultstest.New(t)
	f.Write(t, results.FailureFile, nil)
	require.NoError(t, os.Truncate(f.Path(results.ResultFile), 33<<20))
	require.NoError(t, os.Truncate(f.Path(results.FailureFile), results.MaxFailure+1))
	_, _, err := results.Read(f.Run(), resultstest.TestRun, 1)
	require.ErrorIs(t, err, disk.ErrTooLarge)
	require.ErrorContains(t, err, "result.json")
	require.ErrorContains(t, err, "ask the administrator to check the training program")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)

	require.NoError(t, os.Remove(f.Path(results.ResultFile)))
	_, _, err = results.Read(f.Run(), resultstest.TestRun, 1)
	require.ErrorIs(t, err, disk.ErrTooLarge)
	require.ErrorContains(t, err, "error.json")
}

func TestAFailureInOtherWordsIsNoFailure(t *testing.T) {
	t.Parallel()
	f := resultstest.New(t)
	removeResult(t, f)
	f.Write(t, results.FailureFile, []byte(`{"schema":7}`))
	_, failure, err := results.Read(f.Run(), resultstest.TestRun, 1)
	require.Nil(t, failure)
	require.EqualError(t, err, "error.json: schema 7 is not known: ask the administrator whether the trainer and the service have the same version")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
}
