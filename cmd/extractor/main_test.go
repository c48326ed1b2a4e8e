package main

import (
	"archive/zip"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/registry"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// execute runs one command line with a store and a volume of its own.
func execute(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	environ := []string{"STATE_DIR=" + filepath.Join(dir, "state"), "SHARED_DIR=" + filepath.Join(dir, "shared")}
	code = run(t.Context(), args, environ, &out, &err)
	return code, out.String(), err.String()
}

func TestBadInputEndsWith2AndOneSentence(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "train.csv")
	require.NoError(t, os.WriteFile(file, []byte("a,b\n"), 0o600))
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"an unknown flag":             {[]string{"run", "--nonsense"}, "--nonsense"},
		"no dataset":                  {[]string{"run", "--out", "x"}, "usage: extractor run DATASET_DIR --out DIR"},
		"no folder for the results":   {[]string{"run", t.TempDir()}, "--out is missing"},
		"a dataset that is not there": {[]string{"run", "/not/there", "--out", "x"}, "/not/there"},
		"a dataset that is a file":    {[]string{"run", file, "--out", "x"}, "name the folder that holds the dataset"},
		"a parameter without a value": {[]string{"run", t.TempDir(), "--out", "x", "--param", "epochs"}, "must have the form key=value"},
		"a parameter that is none":    {[]string{"run", t.TempDir(), "--out", "x", "--ray-python", "/bin/sh", "--param", "label_colum=x"}, "There is no parameter label_colum: do you mean label_column?"},
		"nothing to predict":          {[]string{"predict", "--out", "x"}, "usage: extractor predict DATASET_DIR --model MODEL --out DIR"},
		"a model that is not there":   {[]string{"predict", t.TempDir(), "--out", "x", "--model", "stars/7"}, "there is no model stars/7"},
		"no folder for predictions":   {[]string{"predict", t.TempDir()}, "--out is missing"},
		"two datasets at once":        {[]string{"models", "a", "b"}, "usage: extractor models [DATASET]"},
		"a champion without number":   {[]string{"models", "promote", "local", "films"}, "NAME/VERSION"},
		"an export to nowhere":        {[]string{"models", "export", "local", "films/1"}, "usage: extractor models export DATASET NAME/VERSION FILE.zip"},
		"a network to nowhere":        {[]string{"models", "onnx", "local", "films/1"}, "usage: extractor models onnx DATASET NAME/VERSION FILE.onnx"},
		"a champion of nothing":       {[]string{"models", "promote", "../..", "films/1"}, "the dataset ../.. has no models"},
		"no store":                    {[]string{"jobs", "list"}, "jobs.db does not exist"},
		"a wrong number":              {[]string{"version", "--max-jobs", "many"}, "max-jobs"},
		"a setting that cannot be":    {[]string{"doctor", "--clowder-url", "clowder"}, "CLOWDER_URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, _, stderr := execute(t, t.TempDir(), tc.args...)
			require.Equal(t, exitBadInput, code, stderr)
			require.Contains(t, stderr, tc.want)
			require.Equal(t, 1, strings.Count(strings.TrimSpace(stderr), "\n")+1, "one line: %s", stderr)
		})
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	code, stdout, _ := execute(t, t.TempDir(), "version")
	require.Zero(t, code)
	require.Contains(t, stdout, "extractor "+version)
}

func TestJobsReadsAndChangesTheStoreOfTheService(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, err := job.OpenSQLite(t.Context(), filepath.Join(dir, "state", "jobs.db"))
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	for _, run := range []string{"ft-running", "ft-failed"} {
		rec := jobtest.Record(run, "h")
		rec.Request.Name = "Film reviews"
		if run == "ft-failed" {
			rec.Kind, rec.Request.Extractor = job.Predict, predictor
		}
		_, _, err = store.Accept(t.Context(), rec)
		require.NoError(t, err)
	}
	_, err = store.Change(t.Context(), "ft-failed", func(r *job.Record) error {
		r.End(job.Failed, "the dataset is empty")
		return r.Close()
	})
	require.NoError(t, err)
	running := filepath.Join(dir, "shared", "runs", "ft-running")
	require.NoError(t, os.MkdirAll(filepath.Join(running, "logs"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(running, "log.txt"), []byte("reading\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(running, "logs", "rank-0.txt"), []byte("[rank 0] epoch 1\n"), 0o600))

	for _, step := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"jobs", "list"}, 0, "the dataset is empty"},
		{[]string{"jobs", "list", "--all=false"}, 0, "ft-running"},
		{[]string{"jobs", "show", "ft-running"}, 0, "Film reviews"},
		{[]string{"jobs", "show", "ft-running"}, 0, finetuner},
		{[]string{"jobs", "show", "ft-failed"}, 0, predictor},
		{[]string{"jobs", "list"}, 0, "EXTRACTOR"},
		{[]string{"jobs", "show", "ft-nothing"}, 2, "the job ft-nothing does not exist"},
		{[]string{"jobs", "logs", "ft-running"}, 0, "reading\n[rank 0] epoch 1"},
		{[]string{"jobs", "logs", "ft-failed"}, 2, "has no logs"},
		{[]string{"jobs", "stop", "ft-running"}, 2, "nothing to keep"},
		{[]string{"jobs", "stop", "ft-failed"}, 2, "is a prediction"},
		{[]string{"jobs", "cancel", "ft-running"}, 0, "will cancel ft-running"},
		{[]string{"jobs", "cancel", "ft-failed"}, 2, "has already ended"},
		{[]string{"jobs", "retry", "ft-running"}, 2, "only a failed or cancelled job"},
		{[]string{"jobs", "retry", "ft-failed"}, 0, "will retry ft-failed"},
	} {
		code, stdout, stderr := execute(t, dir, step.args...)
		require.Equal(t, step.code, code, "%v: %s", step.args, stderr)
		require.Contains(t, stdout+stderr, step.want, "%v", step.args)
		require.NotContains(t, stdout+stderr, "canary-key", "%v", step.args)
	}
	cancelled, err := store.Get(t.Context(), "ft-running")
	require.NoError(t, err)
	require.Contains(t, cancelled.CancelledBy, "the administrator")
	retried, err := store.Get(t.Context(), "ft-failed")
	require.NoError(t, err)
	require.Equal(t, job.Accepted, retried.State)
}

func TestModelsListsTheVersionsAndPromotesOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	models := registry.New(disk.Folder{Volume: filepath.Join(dir, "shared"), Name: "registry"})
	for _, run := range []string{"ft-one", "ft-two"} {
		_, err := models.Register(t.Context(), registry.Version{
			Name: "Film reviews", Run: run, DatasetName: "Film reviews", Task: "text-classification", Base: "bert-tiny", WeightsSHA256: run,
			Metric: "accuracy", Test: &registry.Score{Value: 0.9123, N: 40}, Created: time.Unix(1e9, 0).UTC(),
		}, disk.Folder{Volume: dir}, func(champion *registry.Version) (bool, string) { return champion == nil, "" })
		require.NoError(t, err)
	}
	listed := func(args ...string) []string {
		code, stdout, stderr := execute(t, dir, append([]string{"models"}, args...)...)
		require.Zero(t, code, stderr)
		return strings.Split(strings.TrimSpace(stdout), "\n")
	}
	lines := listed()
	require.Len(t, lines, 3)
	require.Regexp(t, `^local +film-reviews/1 +\* +text-classification +accuracy 0\.912 +bert-tiny +2001-09-09 01:46:40 +ft-one +Film reviews$`, lines[1])
	require.Regexp(t, `^local +film-reviews/2 +text-classification`, lines[2])
	require.Len(t, listed("Film reviews"), 3, "by the name of the dataset")
	require.Len(t, listed("birds"), 1)

	code, stdout, stderr := execute(t, dir, "models", "promote", "local", "film-reviews/2")
	require.Zero(t, code, stderr)
	require.Equal(t, "film-reviews/2 is now the champion of film-reviews\n", stdout)
	require.Regexp(t, `film-reviews/2 +\*`, listed("local")[2])
	code, _, stderr = execute(t, dir, "models", "promote", "local", "film-reviews/7")
	require.Equal(t, exitBadInput, code)
	require.Contains(t, stderr, "there is no model film-reviews/7: this dataset has film-reviews/1, film-reviews/2")

	file := filepath.Join(dir, "model.zip")
	code, stdout, stderr = execute(t, dir, "models", "export", "local", "film-reviews/1", file)
	require.Zero(t, code, stderr)
	require.Equal(t, "wrote film-reviews/1 to "+file+"\n", stdout)
	z, err := zip.OpenReader(file)
	require.NoError(t, err)
	defer func() { require.NoError(t, z.Close()) }()
	require.Len(t, z.File, 2, "how to use it, and what it is")
	code, _, stderr = execute(t, dir, "models", "export", "local", "film-reviews/1", filepath.Join(dir, "nowhere", "model.zip"))
	require.Equal(t, exitBadInput, code)
	require.Contains(t, stderr, "write the model")
	require.NoFileExists(t, filepath.Join(dir, "nowhere"))
}

// readEnv reads settings from an environment.
func readEnv(environ ...string) (settings.Settings, error) {
	fs := pflag.NewFlagSet("t", pflag.ContinueOnError)
	settings.AddFlags(fs)
	return settings.Read(fs, environ)
}

func defaults(t *testing.T) settings.Settings {
	t.Helper()
	set, err := readEnv()
	require.NoError(t, err)
	return set
}

func TestAFailedPartStopsTheCommand(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out bytes.Buffer
	code := run(ctx, []string{"serve"}, []string{
		"STATE_DIR=" + t.TempDir(), "SHARED_DIR=" + t.TempDir(), "CLOWDER_URL=http://127.0.0.1:1", "RAY_ADDRESS=",
	}, &out, &out)
	require.Equal(t, exitBadInput, code, out.String())
	require.Contains(t, out.String(), "RAY_ADDRESS")
}

func TestModelsOfTwoClowdersWithTheSameDatasetAreToldApart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	models := registry.New(disk.Folder{Volume: filepath.Join(dir, "shared"), Name: "registry"})
	id := strings.Repeat("d", 24)
	register := func(run, clowder, dataset string) registry.Dataset {
		_, err := models.Register(t.Context(), registry.Version{
			Name: "films", Run: run, Clowder: clowder, DatasetID: dataset, Base: "bert-tiny", Created: time.Unix(1e9, 0).UTC(),
		}, disk.Folder{Volume: dir}, func(*registry.Version) (bool, string) { return false, "" })
		require.NoError(t, err)
		return registry.Dataset{Clowder: clowder, ID: dataset}
	}
	register("ft-before", "", id)
	a := register("ft-a", "https://a.example.org", id)
	code, stdout, stderr := execute(t, dir, "models", "promote", id, "films/1")
	require.Zero(t, code, stderr)
	require.Equal(t, "films/1 is now the champion of films\n", stdout, "as long as there is one Clowder, its id is enough")

	b := register("ft-b", "https://b.example.org", id)
	code, _, stderr = execute(t, dir, "models", "promote", id, "films/2")
	require.Equal(t, exitBadInput, code)
	require.Contains(t, stderr, "2 Clowders have a dataset "+id+": use ")
	require.Contains(t, stderr, a.Folder()+" (https://a.example.org)")
	require.Contains(t, stderr, b.Folder()+" (https://b.example.org)")
	code, _, stderr = execute(t, dir, "models", "promote", b.Folder(), "films/2")
	require.Zero(t, code, stderr)
	champion, err := models.Champion(b, "films")
	require.NoError(t, err)
	require.Equal(t, "ft-b", champion.Run)
	champion, err = models.Champion(a, "films")
	require.NoError(t, err)
	require.Equal(t, "ft-before", champion.Run)

	broken := filepath.Join(models.Model(*champion).Path(), "..", "version.json")
	require.NoError(t, os.WriteFile(broken, []byte("{"), 0o600))
	code, stdout, stderr = execute(t, dir, "models")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, a.Folder()+"  films/2")
	require.Contains(t, stdout, b.Folder()+"  films/2")
	require.Contains(t, stderr, filepath.Clean(broken), "the warning names the path")
}
