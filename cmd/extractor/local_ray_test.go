package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
)

// runFolder is the folder of the run that a driver works for.
func runFolder(d raytest.Driver) string {
	return filepath.Dir(d.Entrypoint[strings.LastIndex(d.Entrypoint, " ")+1:])
}

// played leaves what a training leaves that succeeded.
func played(_ context.Context, d raytest.Driver) int {
	dir := runFolder(d)
	if err := resultstest.Play(dir, filepath.Base(dir), 1); err != nil {
		_, _ = fmt.Fprintln(d.Output, err)
		return 1
	}
	return 0
}

// rayOf starts a Ray whose jobs are acted by program, and returns its address.
func rayOf(t *testing.T, program func(context.Context, raytest.Driver) int) (server *raytest.Server, address string) {
	t.Helper()
	server = raytest.NewServer(raytest.Config{Run: program, Token: "canary-token"})
	t.Cleanup(server.Close)
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	return server, listener.URL
}

// onRay runs one command line on that Ray, with the shared volume in this folder.
func onRay(ctx context.Context, address, shared string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(ctx, append(args, "--ray", address), []string{"SHARED_DIR=" + shared, "RAY_POLL=20ms", "RAY_AUTH_TOKEN=canary-token"}, &out, &errs)
	return code, out.String(), errs.String()
}

// TestALocalTrainingLeavesItsResultsAndNothingElse repeats it, too: the second training compares itself with the first.
func TestALocalTrainingLeavesItsResultsAndNothingElse(t *testing.T) {
	t.Parallel()
	folders := make(chan string, 2)
	_, address := rayOf(t, func(ctx context.Context, d raytest.Driver) int {
		folders <- runFolder(d)
		return played(ctx, d)
	})
	dir, _ := dataset(t)
	first, second, shared := filepath.Join(t.TempDir(), "new", "one"), filepath.Join(t.TempDir(), "two"), filepath.Join(t.TempDir(), "none")
	code, stdout, stderr := onRay(t.Context(), address, shared, "run", dir, "--out", first, "--param", "epochs=2")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "Results in "+first)
	for _, name := range []string{"manifest.json", "report.html", "model.zip", "predictions.csv"} {
		require.FileExists(t, filepath.Join(first, name))
	}
	code, stdout, stderr = onRay(t.Context(), address, shared, "run", dir, "--out", second, "--from", filepath.Join(first, "manifest.json"))
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "The weights are the same as in run ft-")
	require.NotContains(t, stdout+stderr, "canary")

	for range 2 {
		temporary := filepath.Join(<-folders, "..", "..", "..")
		require.Contains(t, filepath.Base(temporary), "clowder-ray-")
		require.NoDirExists(t, temporary, "the temporary volume of a run is removed")
	}
	require.NoDirExists(t, shared, "a volume that is not there is not made")
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, 2, "the dataset is as it was")
}

func TestARunFolderThatIsKeptStaysOnTheSharedVolume(t *testing.T) {
	t.Parallel()
	_, address := rayOf(t, played)
	dir, _ := dataset(t)
	shared := t.TempDir()
	code, stdout, stderr := onRay(t.Context(), address, shared, "run", dir, "--out", t.TempDir(), "--keep")
	require.Zero(t, code, stderr)
	left, err := filepath.Glob(filepath.Join(shared, "runs", "*"))
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Contains(t, stdout, "The run folder is "+left[0]+"\n")
	require.FileExists(t, filepath.Join(left[0], results.ResultFile))
}

func TestARunFolderThatIsKeptStaysWhereThereIsNoSharedVolume(t *testing.T) {
	t.Parallel()
	_, address := rayOf(t, played)
	dir, _ := dataset(t)
	code, stdout, stderr := onRay(t.Context(), address, filepath.Join(t.TempDir(), "none"), "run", dir, "--out", t.TempDir(), "--keep")
	require.Zero(t, code, stderr)
	_, folder, ok := strings.Cut(stdout, "The run folder is ")
	require.True(t, ok, stdout)
	folder = strings.TrimSpace(folder)
	require.FileExists(t, filepath.Join(folder, results.ResultFile))
	session := filepath.Join(folder, "..", "..", "..")
	left, err := os.ReadDir(session)
	require.NoError(t, err)
	require.Len(t, left, 1, "only the volume stays")
	require.NoError(t, os.RemoveAll(session))
}

func TestALocalTrainingThatFailsSaysWhoCanHelp(t *testing.T) {
	t.Parallel()
	fail := func(user bool) func(context.Context, raytest.Driver) int {
		return func(_ context.Context, d raytest.Driver) int {
			dir := runFolder(d)
			_ = os.WriteFile(filepath.Join(dir, "log.txt"), []byte("Traceback\nValueError: mood\n"), 0o600)
			doc, _ := json.Marshal(map[string]any{
				"schema": 1, "run": filepath.Base(dir), "attempt": 1, "code": "unknown_column", "user": user,
				"what": "There is no column mood.", "why": "Its columns are id, review.", "do": "Set label_column to one of them.",
			})
			_ = os.WriteFile(filepath.Join(dir, results.FailureFile), doc, 0o600)
			return 3
		}
	}
	for name, tc := range map[string]struct {
		user bool
		code int
		log  bool
	}{
		"the data must be changed":             {true, exitBadInput, false},
		"something else, and the log may tell": {false, exitFailed, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, address := rayOf(t, fail(tc.user))
			dir, _ := dataset(t)
			code, stdout, stderr := onRay(t.Context(), address, t.TempDir(), "run", dir, "--out", t.TempDir(), "--max-attempts", "1")
			require.Equal(t, tc.code, code, "%s\n%s", stdout, stderr)
			require.Contains(t, stderr, "There is no column mood.")
			require.Equal(t, tc.log, strings.Contains(stderr, "ValueError: mood"), stderr)
			require.NotContains(t, stdout, "There is no column mood.", "an error is printed once")
			require.Equal(t, 1, server.Requests(http.MethodPost, "/api/jobs/"))
		})
	}
}

// TestAnInterruptEndsTheTrainingOnRay: else it would go on there with nobody to collect it.
func TestAnInterruptEndsTheTrainingOnRay(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	stopped := make(chan struct{})
	_, address := rayOf(t, func(ctx context.Context, _ raytest.Driver) int {
		interrupt()
		<-ctx.Done()
		close(stopped)
		return 1
	})
	dir, _ := dataset(t)
	out := filepath.Join(t.TempDir(), "out")
	code, stdout, stderr := onRay(ctx, address, t.TempDir(), "run", dir, "--out", out)
	require.Equal(t, exitFailed, code, stdout)
	require.Contains(t, stderr, "ancelled by you")
	<-stopped
	require.NoFileExists(t, filepath.Join(out, "manifest.json"))
}

// TestASweepOnOneRayGoesOnWhereItStopped: each training has a folder of its own, and a finished one is not repeated.
func TestASweepOnOneRayGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	server, address := rayOf(t, played)
	dir, _ := dataset(t)
	out, shared := filepath.Join(t.TempDir(), "sweep"), t.TempDir()
	args := []string{"sweep", dir, "--out", out, "--workers", "1", "--epochs", "1,2"}
	code, stdout, stderr := onRay(t.Context(), address, shared, args...)
	require.Zero(t, code, stdout+stderr)
	for _, name := range []string{"workers-1-epochs-1", "workers-1-epochs-2"} {
		require.FileExists(t, filepath.Join(out, name, "manifest.json"))
	}
	code, stdout, stderr = onRay(t.Context(), address, shared, args...)
	require.Zero(t, code, stdout+stderr)
	require.Contains(t, stdout, "2 trainings of 2 finished earlier")
	require.Equal(t, 2, server.Requests(http.MethodPost, "/api/jobs/"))
	csv, err := os.ReadFile(filepath.Join(out, "sweep.csv"))
	require.NoError(t, err)
	require.Equal(t, 3, bytes.Count(csv, []byte("\n")))
	require.Contains(t, string(csv), "\n1,2,")
}
