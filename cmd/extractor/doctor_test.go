package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
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
		"ok    extractor_info", "FAIL  broker", "FAIL  Clowder         set CLOWDER_URL", "FAIL  Ray", "ok    shared volume", "ok    job store", "ok    models",
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

func TestDoctorCountsTheActiveJobs(t *testing.T) {
	t.Parallel()
	set := Settings{StateDir: t.TempDir()}
	found, err := checkStore(t.Context(), set)
	require.NoError(t, err)
	require.Contains(t, found, "0 active jobs")
	store, err := job.OpenSQLite(t.Context(), set.storePath())
	require.NoError(t, err)
	_, _, err = store.Accept(t.Context(), jobtest.Record("ft-one", "h"))
	require.NoError(t, err)
	require.NoError(t, store.Close())
	found, err = checkStore(t.Context(), set)
	require.NoError(t, err)
	require.Contains(t, found, "1 active job")

	require.NoError(t, os.WriteFile(set.storePath(), []byte("this is not a database, but a text that is long enough"), 0o600))
	_, err = checkStore(t.Context(), set)
	require.ErrorContains(t, err, "STATE_DIR")
}
