package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/clowder/form"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/platform/platformtest"
)

func TestDoctorChecksEverythingAndSaysWhatToFix(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var out, errs bytes.Buffer
	code := run(t.Context(), []string{"doctor"}, []string{
		"STATE_DIR=" + filepath.Join(dir, "state"), "SHARED_DIR=" + filepath.Join(dir, "shared"),
		"RABBITMQ_URI=amqp://user:canary-password@127.0.0.1:1/%2f", "RAY_ADDRESS=http://127.0.0.1:1", "RAY_AUTH_TOKEN=canary-token",
	}, &out, &errs)
	require.Equal(t, exitFailed, code, errs.String())
	require.Contains(t, errs.String(), "3 checks failed")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, want := range []string{
		"ok    extractor_info", "FAIL  broker", "FAIL  Clowder         set CLOWDER_URL", "FAIL  Ray", "ok    Python", "ok    shared volume", "ok    job store", "ok    scripts", "ok    models",
	} {
		require.Condition(t, func() bool {
			for _, line := range lines {
				if strings.HasPrefix(line, want) {
					return true
				}
			}
			return false
		}, "%q in\n%s", want, out.String())
	}
	require.Contains(t, out.String(), "cannot reach Ray at http://127.0.0.1:1")
	require.NotContains(t, out.String()+errs.String(), "canary")
}

func TestAFolderThatIsNotWritableIsReported(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := checkWritable("SHARED_DIR", filepath.Join(file, "below"), 0)
	require.ErrorContains(t, err, "set SHARED_DIR to a folder that this user can write")
	_, err = checkWritable("SHARED_DIR", t.TempDir(), 1<<62)
	require.ErrorContains(t, err, "SHARED_DIR")
	dir := t.TempDir()
	found, err := checkWritable("SHARED_DIR", dir, 0)
	require.NoError(t, err)
	require.Contains(t, found, dir+" is writable")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left, "the check leaves no file")
}

func TestDoctorSaysWhichModelsCanBeUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	folder := disk.Folder{Volume: dir, Name: "models"}
	found, err := checkModels(folder)
	require.NoError(t, err)
	require.Contains(t, found, "extractor models install ORG/NAME")
	const files = `"files": [{"path": "config.json", "size": 2, "sha256": "` + "0000000000000000000000000000000000000000000000000000000000000000" + `"}]`
	for id, model := range map[string]string{
		"org/encoder": `{"schema": 1, "id": "org/encoder", "kind": "text", "default": true, ` + files + `}`,
		"org/writer":  `{"schema": 1, "id": "org/writer", "kind": "language", ` + files + `}`,
		"org/torn":    `{`,
		"org/copied":  "",
	} {
		place := filepath.Join(dir, "models", id)
		require.NoError(t, os.MkdirAll(place, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(place, "config.json"), []byte("{}"), 0o600))
		if model != "" {
			require.NoError(t, os.WriteFile(filepath.Join(place, "model.json"), []byte(model), 0o600))
		}
	}
	found, err = checkModels(folder)
	require.NoError(t, err)
	for _, want := range []string{"org/encoder (text, the default)", "org/writer (language)", "org/torn (model.json is not valid", "org/copied (copied by hand"} {
		require.Contains(t, found, want)
	}
}

func TestDoctorCountsTheActiveJobs(t *testing.T) {
	t.Parallel()
	set := settings.Settings{StateDir: t.TempDir()}
	found, err := checkStore(t.Context(), set)
	require.NoError(t, err)
	require.Contains(t, found, "0 active jobs")
	store, err := job.OpenSQLite(t.Context(), set.StorePath())
	require.NoError(t, err)
	_, _, err = store.Accept(t.Context(), jobtest.Record("ft-one", "h"))
	require.NoError(t, err)
	require.NoError(t, store.Close())
	found, err = checkStore(t.Context(), set)
	require.NoError(t, err)
	require.Contains(t, found, "1 active job")

	require.NoError(t, os.WriteFile(set.StorePath(), []byte("this is not a database, but a text that is long enough"), 0o600))
	_, err = checkStore(t.Context(), set)
	require.ErrorContains(t, err, "STATE_DIR")
}

func TestDoctorSaysWhichClowdersItFinds(t *testing.T) {
	t.Parallel()
	one, err := clowdertest.New(clowdertest.Options{Version: 1})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, one.Close()) })
	two, err := clowdertest.New(clowdertest.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, two.Close()) })
	for name, tc := range map[string]struct {
		set  settings.Settings
		want string
		no   string
	}{
		"a v2":                        {settings.Settings{ClowderURL: two.URL}, `^Clowder 2\S+ at \S+$`, ""},
		"a v1":                        {settings.Settings{ClowderURL: one.URL}, `^Clowder 1\S+ at \S+$`, ""},
		"both":                        {settings.Settings{ClowderURL: two.URL, Clowder1URL: one.URL}, `^Clowder 2\S+ at \S+; Clowder 1\S+ at \S+$`, ""},
		"a v1 that is to be a v2":     {settings.Settings{ClowderURL: one.URL, ClowderVersion: 2}, "", "no Clowder v2 at "},
		"a v2 that is to be a v1":     {settings.Settings{ClowderURL: two.URL, ClowderVersion: 1}, "", "no Clowder v1 at "},
		"a v2 in the place of the v1": {settings.Settings{ClowderURL: two.URL, Clowder1URL: two.URL}, `^Clowder 2\S+ at \S+$`, "no Clowder v1 at "},
		"no address":                  {settings.Settings{}, "", "CLOWDER1_URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.set.MaxFiles, tc.set.MaxBytes = 1, 1
			found, err := checkClowder(t.Context(), tc.set)
			require.Regexp(t, tc.want, found)
			if tc.no == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.no)
		})
	}
}

func TestDoctorSaysHowClowderListsTheExtractors(t *testing.T) {
	t.Parallel()
	server, err := clowdertest.New(clowdertest.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	dir := t.TempDir()
	set := settings.Settings{
		ClowderURL: server.URL, StateDir: filepath.Join(dir, "state"), SharedDir: filepath.Join(dir, "shared"), RabbitMQURI: "amqp://127.0.0.1:1/%2f",
	}
	all := platformtest.Extractors(t)
	found, err := checkRegistration(t.Context(), set, all)
	require.NoError(t, err)
	require.Contains(t, found, "not checked")

	store, err := openStore(t.Context(), set)
	require.NoError(t, err)
	old := jobtest.Record("ft-old", "i")
	old.SecretKey, old.Owner, old.Request.ReplyTo = "a key that Clowder has forgotten", "another owner", ""
	_, _, err = store.Accept(t.Context(), old)
	require.NoError(t, err)
	found, err = checkRegistration(t.Context(), set, all)
	require.NoError(t, err, "it says nothing about the extractors")
	require.Contains(t, found, "not checked: Clowder does not accept the key")

	rec := jobtest.Record("ft-one", "h")
	rec.SecretKey, rec.Request.ReplyTo = job.Secret(server.Key("alice@example.org")), ""
	_, _, err = store.Accept(t.Context(), rec)
	require.NoError(t, err)
	require.NoError(t, store.Close())
	_, err = checkRegistration(t.Context(), set, all)
	require.ErrorContains(t, err, all[0].Name()+" is not listed")
	for _, e := range all {
		require.NoError(t, server.Heartbeat(e.Info.Heartbeat(e.Queue, form.Owner{}, "test")))
	}
	_, err = checkRegistration(t.Context(), set, all)
	require.ErrorContains(t, err, "is not enabled")
	server.EnableListeners()
	found, err = checkRegistration(t.Context(), set, all)
	require.NoError(t, err)
	require.Contains(t, found, "listed and enabled")
}
