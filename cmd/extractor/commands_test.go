package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/registry"
)

// withJobs makes a job store with these runs in a new folder.
func withJobs(t *testing.T, change func(*job.Record) error, runs ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	store, err := job.OpenSQLite(t.Context(), filepath.Join(dir, "state", "jobs.db"))
	require.NoError(t, err)
	for _, run := range runs {
		_, _, err = store.Accept(t.Context(), jobtest.Record(run, "h"))
		require.NoError(t, err)
		_, err = store.Change(t.Context(), run, change)
		require.NoError(t, err)
	}
	require.NoError(t, store.Close())
	return dir
}

func unchanged(*job.Record) error { return nil }

// jobCommands are all commands that open the job store.
var jobCommands = [][]string{{"jobs", "list"}, {"jobs", "show", "ft-one"}, {"jobs", "cancel", "ft-one"}, {"jobs", "retry", "ft-one"}, {"jobs", "stop", "ft-one"}}

func TestCommandsOnADamagedStoreSayWhatToDoAndRepairNothing(t *testing.T) {
	t.Parallel()
	dir := withJobs(t, unchanged, "ft-one")
	file := filepath.Join(dir, "state", "jobs.db")
	const damage = "this is a text and no database, and it is long enough for one"
	require.NoError(t, os.WriteFile(file, []byte(damage), 0o600))
	for _, args := range jobCommands {
		code, stdout, stderr := execute(t, dir, args...)
		require.Equal(t, exitFailed, code, "%v", args)
		require.Empty(t, stdout, "%v", args)
		require.Contains(t, stderr, file, "%v", args)
		require.Contains(t, stderr, "restore it from a backup", "%v", args)
		require.Equal(t, 1, strings.Count(stderr, "\n"), "%v: %s", args, stderr)
	}
	left, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, damage, string(left))
	code, stdout, _ := execute(t, dir, "doctor")
	require.Equal(t, exitFailed, code)
	require.Regexp(t, `FAIL  job store +STATE_DIR: .*restore it from a backup`, stdout)
}

func TestCommandsWithoutAStoreMakeNone(t *testing.T) {
	t.Parallel()
	for _, args := range jobCommands {
		dir := t.TempDir()
		code, _, stderr := execute(t, dir, args...)
		require.Equal(t, exitBadInput, code, "%v", args)
		require.Contains(t, stderr, "set STATE_DIR to the state folder of the service", "%v", args)
		left, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, left, "%v leaves no file behind", args)
	}
}

func TestCommandsWithoutTheStateKeyNameTheSetting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32))
	ring, err := job.ParseKeyring(job.Secret(key))
	require.NoError(t, err)
	store, err := job.OpenSQLite(t.Context(), filepath.Join(dir, "state", "jobs.db"), job.WithKeys(ring))
	require.NoError(t, err)
	_, _, err = store.Accept(t.Context(), jobtest.Record("ft-one", "h"))
	require.NoError(t, err)
	require.NoError(t, store.Close())
	for _, args := range jobCommands {
		code, _, stderr := execute(t, dir, args...)
		require.Equal(t, exitBadInput, code, "%v: %s", args, stderr)
		require.Contains(t, stderr, "add it to STATE_KEY or STATE_KEY_FILE", "%v", args)
	}
	code, stdout, stderr := execute(t, dir, "jobs", "list", "--state-key", key)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "ft-one")
	require.NotContains(t, stdout+stderr, key)
}

func TestADamagedSettingsFileEndsEveryCommandWithOneSentence(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"no YAML":              {"max_jobs: [", "read the settings file"},
		"a misspelt setting":   {"max_jbos: 3", "max_jbos: there is no such setting"},
		"a list for a number":  {"max_jobs: [1, 2]", "MAX_JOBS: must be a single value, not a list or a group"},
		"lists in a list":      {"clowder_hosts: [[a], [b]]", "CLOWDER_HOSTS: must be a single value, not a list or a group"},
		"a text for a time":    {"stall_timeout: soon", `STALL_TIMEOUT: must be a time like 90s, 5m, 2h or 7d, got "soon"`},
		"a value out of range": {"max_jobs: 0", "MAX_JOBS: must be at least 1"},
		"nested settings":      {"ray: {address: x}", "ray.address: there is no such setting"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "settings.yaml")
			require.NoError(t, os.WriteFile(file, []byte(tc.text), 0o600))
			for _, args := range [][]string{{"jobs", "list"}, {"models"}, {"doctor"}, {"ready"}, {"serve"}} {
				code, stdout, stderr := execute(t, t.TempDir(), append(args, "--config", file)...)
				require.Equal(t, exitBadInput, code, "%v: %s", args, stderr)
				require.Empty(t, stdout)
				require.Contains(t, stderr, tc.want)
			}
		})
	}
	code, _, stderr := execute(t, t.TempDir(), "doctor", "--config", filepath.Join(t.TempDir(), "absent.yaml"))
	require.Equal(t, exitBadInput, code)
	require.Contains(t, stderr, "read the settings file")
}

func TestLogsAreReadFromRunFoldersOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	require.NoError(t, os.MkdirAll(filepath.Join(secret, "logs"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(secret, "log.txt"), []byte("canary\n"), 0o600))
	runs := filepath.Join(dir, "shared", "runs")
	require.NoError(t, os.MkdirAll(runs, 0o700))
	require.NoError(t, os.Symlink(secret, filepath.Join(runs, "ft-link")))
	for _, run := range []string{"../../secret", secret, "ft-link", "", ".", "ft-absent"} {
		code, stdout, stderr := execute(t, dir, "jobs", "logs", run)
		require.NotZero(t, code, run)
		require.NotContains(t, stdout+stderr, "canary", run)
	}
}

func TestTheDetailsOfAJobShowWhatIsKnownAndNoKey(t *testing.T) {
	t.Parallel()
	model, err := json.Marshal(registry.Version{Name: "films", Version: 3})
	require.NoError(t, err)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	dir := withJobs(t, func(r *job.Record) error {
		r.Began, r.Trained, r.LastError = at, at.Add(time.Hour), "Ray did not answer"
		r.Handle = &job.Handle{Backend: "kuberay", ID: "ft-one-a1", Address: "http://ray"}
		r.Model = model
		r.Settings = job.NewSettings(map[string]any{"epochs": 3, "a_field": "x"})
		r.End(job.Failed, "the label column is missing")
		r.NotBefore = at.Add(2 * time.Hour)
		return nil
	}, "ft-one")
	code, stdout, stderr := execute(t, dir, "jobs", "show", "ft-one")
	require.Zero(t, code, stderr)
	for _, want := range []string{
		`submitted +2026-01-02T03:04:05Z\ntraining since +2026-01-02T04:04:05Z\nnext attempt +2026-01-02T05:04:05Z\nmodel +films/3`,
		`ray +kuberay ft-one-a1 http://ray`, `last error +Ray did not answer`, `ending +failed: the label column is missing`, `(?s)a_field +x.*epochs +3`,
	} {
		require.Regexp(t, want, stdout)
	}
	require.NotContains(t, stdout, "canary-key")
	require.Equal(t, "unreadable: unexpected end of JSON input", modelOf(job.Record{Model: []byte("{")}))
}

func TestAListOfJobsIsBoundedAndCutsLongNotes(t *testing.T) {
	t.Parallel()
	dir := withJobs(t, func(r *job.Record) error { r.LastError = strings.Repeat("ä", 200); return nil }, "ft-1", "ft-2", "ft-3")
	for limit, want := range map[string]int{"0": 3, "1": 1, "2": 2, "9": 3} {
		code, stdout, stderr := execute(t, dir, "jobs", "list", "--limit", limit)
		require.Zero(t, code, stderr)
		require.Equal(t, want+1, strings.Count(stdout, "\n"), "the head line and %s jobs", limit)
		require.Contains(t, stdout, strings.Repeat("ä", 79)+"…")
		require.NotContains(t, stdout, strings.Repeat("ä", 80))
	}
	code, _, stderr := execute(t, dir, "jobs", "list", "--limit", "many")
	require.Equal(t, exitBadInput, code, stderr)
}

func TestTheExitCodeOfALocalRunSaysWhoCanHelp(t *testing.T) {
	t.Parallel()
	ending := func(state job.State, badInput bool) *job.Ending {
		return &job.Ending{State: state, Text: "the sentence", BadInput: badInput}
	}
	for name, tc := range map[string]struct {
		ending *job.Ending
		keep   bool
		err    string
		kind   job.Kind
		kept   bool
	}{
		"done":                    {ending(job.Done, false), false, "", 0, false},
		"done, and to be kept":    {ending(job.Done, false), true, "", 0, true},
		"the data must change":    {ending(job.Failed, true), false, "the sentence", job.KindPermanent, false},
		"something else failed":   {ending(job.Failed, false), false, "the sentence", job.KindRetryable, true},
		"cancelled":               {ending(job.Cancelled, false), false, "the sentence", job.KindRetryable, false},
		"the end did not come":    {nil, false, "interrupted before the training had stopped", job.KindRetryable, true},
		"keeping a failed folder": {ending(job.Failed, false), true, "the sentence", job.KindRetryable, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := volume.Volume{Dir: t.TempDir()}
			require.NoError(t, os.MkdirAll(v.Run("ft-one").Path(), 0o700))
			var out bytes.Buffer
			err := (&program{stdout: &out}).exitFor(job.Record{Run: "ft-one", Ending: tc.ending}, v, tc.keep)
			if tc.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tc.err)
				kind, _ := job.Classify(err)
				require.Equal(t, tc.kind, kind)
			}
			if tc.kept {
				require.DirExists(t, v.Run("ft-one").Path())
			} else {
				require.NoDirExists(t, v.Run("ft-one").Path())
			}
			require.Equal(t, tc.kept && tc.keep, strings.Contains(out.String(), v.Run("ft-one").Path()))
		})
	}
}

func TestAnExportThatFailsLeavesTheOldFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	models := registry.New(disk.Folder{Volume: filepath.Join(dir, "shared"), Name: "registry"})
	from := disk.Folder{Volume: filepath.Join(dir, "out")}
	require.NoError(t, os.MkdirAll(from.Path(), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(from.Path(), "a.bin"), []byte("a"), 0o600))
	sum := sha256.Sum256([]byte("a"))
	v, err := models.Register(t.Context(), registry.Version{
		Name: "films", Run: "ft-one", Base: "bert-tiny", Created: time.Unix(1e9, 0).UTC(),
		Files: []registry.File{{Path: "a.bin", Size: 1, SHA256: hex.EncodeToString(sum[:])}},
	}, from, func(*registry.Version) (bool, string) { return true, "" })
	require.NoError(t, err)
	file := filepath.Join(dir, "model.zip")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(models.Model(v).Path(), "a.bin"), []byte("b"), 0o600))
	code, stdout, stderr := execute(t, dir, "models", "export", "local", "films/1", file)
	require.NotZero(t, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "extractor: ")
	old, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "old", string(old))
	parts, err := filepath.Glob(filepath.Join(dir, ".part-*"))
	require.NoError(t, err)
	require.Empty(t, parts)
	for _, ref := range []string{"films", "films/0", "films/x", "/1", "films/1/2", "films/99999999999"} {
		code, _, stderr := execute(t, dir, "models", "export", "local", ref, file)
		require.Equal(t, exitBadInput, code, "%s: %s", ref, stderr)
	}
}

func TestTheNetworkOfAVersionIsWrittenOrTheReasonSaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	models := registry.New(disk.Folder{Volume: filepath.Join(dir, "shared"), Name: "registry"})
	file := filepath.Join(dir, "a.onnx")
	register := func(run, base, kind, name string) {
		from := disk.Folder{Volume: filepath.Join(dir, run)}
		require.NoError(t, os.MkdirAll(from.Path(), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(from.Path(), name), []byte(run), 0o600))
		sum := sha256.Sum256([]byte(run))
		_, err := models.Register(t.Context(), registry.Version{
			Name: "films", Run: run, Base: base, Kind: kind, Created: time.Unix(1e9, 0).UTC(), Files: []registry.File{{Path: name, Size: int64(len(run)), SHA256: hex.EncodeToString(sum[:])}},
		}, from, func(*registry.Version) (bool, string) { return true, "" })
		require.NoError(t, err)
	}
	register("ft-one", "bert-tiny", "text", "model.onnx")
	register("ft-two", "words", "text", "terms.json")
	register("ft-three", "bert-tiny", "text", "model.safetensors")
	register("ft-four", "gpt-tiny", "language", "model.safetensors")
	code, stdout, stderr := execute(t, dir, "models", "onnx", "local", "films/1", file)
	require.Zero(t, code, stderr)
	require.Equal(t, "wrote the network of films/1 to "+file+"\n", stdout)
	doc, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "ft-one", string(doc))
	for ref, why := range map[string]string{"films/2": "a model of scikit-learn", "films/3": "a note of the run ft-three", "films/4": "in its own form"} {
		code, _, stderr := execute(t, dir, "models", "onnx", "local", ref, filepath.Join(dir, "b.onnx"))
		require.Equal(t, exitBadInput, code, ref)
		require.Contains(t, stderr, why)
	}
	require.NoFileExists(t, filepath.Join(dir, "b.onnx"))
}

func TestTimesThatCannotBeAreRefusedAndNotWrapped(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"300000d", "NaN", "1e300", "-1e300", "Inf", "106752d"} {
		_, err := readEnv("RETAIN_RECORDS="+text, "RETAIN_RUNS=1d")
		require.ErrorContains(t, err, "RETAIN_RECORDS", text)
	}
	set, err := readEnv("RETAIN_RECORDS=106751d")
	require.NoError(t, err)
	require.Equal(t, 106751*24*time.Hour, set.RetainRecords)
}
