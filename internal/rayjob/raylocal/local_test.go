package raylocal

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

// recorded writes the state of a Ray with a mark into a new folder, as launch does.
func recorded(t *testing.T, address, mark string, detached bool) (dir string, s state) {
	t.Helper()
	dir = t.TempDir()
	temp, err := tempDir()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(temp)) })
	s = state{Address: address, Mark: mark, Temp: temp, Detached: detached}
	require.NoError(t, s.write(dir, "canary-token"))
	return dir, s
}

func TestTheStateIsPrivateAndReadBack(t *testing.T) {
	t.Parallel()
	dir, want := recorded(t, "http://127.0.0.1:8265", random(), true)
	got, token, err := readState(dir)
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, job.Secret("canary-token"), token)
	for _, path := range []string{statePath(dir), tokenPath(dir)} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), path)
	}
	require.NoError(t, os.WriteFile(logPath(dir), nil, 0o600))
	require.NoError(t, got.forget(dir))
	require.NoError(t, got.forget(dir), "forgetting twice is no error")
	require.FileExists(t, logPath(dir))
	require.NoFileExists(t, tokenPath(dir))
	require.NoDirExists(t, got.Temp)
	_, _, err = readState(dir)
	require.ErrorIs(t, err, ErrNotRunning)
}

func TestARayWithoutProcessesDoesNotRun(t *testing.T) {
	t.Parallel()
	dir, s := recorded(t, "http://127.0.0.1:1", random(), true)
	_, err := Find(t.Context(), dir)
	require.ErrorIs(t, err, ErrNotRunning)
	require.NoError(t, Stop(dir), "its files are removed")
	require.NoDirExists(t, s.Temp)
	require.NoFileExists(t, statePath(dir))
}

func TestFindAsksTheDashboardWithTheToken(t *testing.T) {
	t.Parallel()
	var healthy atomic.Bool
	healthy.Store(true)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !healthy.Load() || r.URL.Path != "/api/version" || r.Header.Get("X-Ray-Authorization") != "Bearer canary-token" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(server.Close)
	mark := random()
	dir, s := recorded(t, server.URL, mark, true)
	sleeper(t, mark, "true")
	l, err := Find(t.Context(), dir)
	require.NoError(t, err)
	require.Equal(t, server.URL, l.Address)
	require.Equal(t, tokenPath(dir), l.TokenFile)

	found, err := Start(t.Context(), Config{Python: "sh", Dir: dir, Detached: true})
	require.NoError(t, err)
	require.Equal(t, l, found, "a detached Ray that runs is adopted")
	_, err = Start(t.Context(), Config{Python: "sh", Dir: dir})
	require.ErrorContains(t, err, "another local Ray runs in "+dir)

	healthy.Store(false)
	_, err = Find(t.Context(), dir)
	require.ErrorContains(t, err, "runs but does not respond: the local Ray answered with HTTP status 503")
	require.NotContains(t, err.Error(), "canary")

	require.NoError(t, l.Stop())
	left, err := processes(mark)
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoDirExists(t, s.Temp)
	require.NoError(t, l.Stop(), "stopping twice is no error")
}

func TestStopLeavesALaterRayOfTheFolderAlone(t *testing.T) {
	t.Parallel()
	dir, old := recorded(t, "http://127.0.0.1:1", random(), true)
	l := &Local{dir: dir, state: old}
	later := state{Address: old.Address, Mark: random(), Temp: old.Temp + "1", Detached: true}
	require.NoError(t, later.write(dir, "later-token"))
	require.NoError(t, l.Stop())
	got, token, err := readState(dir)
	require.NoError(t, err)
	require.Equal(t, later, got)
	require.Equal(t, job.Secret("later-token"), token)
}

func TestARayThatIsNotReadyInTimeLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	python := filepath.Join(dir, "python")
	require.NoError(t, os.WriteFile(python, []byte("#!/bin/sh\necho 'RuntimeError: the GCS is slow' >&2\nexec sleep 60\n"), 0o700))
	_, err := Start(t.Context(), Config{Python: python, Dir: dir, StartTimeout: 300 * time.Millisecond})
	require.ErrorContains(t, err, "the local Ray was not ready after 300ms")
	require.ErrorContains(t, err, "RuntimeError: the GCS is slow")
	require.NoFileExists(t, statePath(dir))
	_, err = Find(t.Context(), dir)
	require.ErrorIs(t, err, ErrNotRunning)
}

func TestARayThatGivesUpItsStartOnABusyMachineIsStartedAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		message string
		starts  int
	}{
		"it gave up":    {"Exception: The current node timed out during startup. This could happen", tries},
		"another error": {"ValueError: no such resource", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			python, starts := filepath.Join(dir, "python"), filepath.Join(dir, "starts")
			script := fmt.Sprintf("#!/bin/sh\necho start >> %s\necho '%s' >&2\nexit 1\n", starts, tc.message)
			require.NoError(t, os.WriteFile(python, []byte(script), 0o700))
			_, err := Start(t.Context(), Config{Python: python, Dir: dir})
			require.ErrorContains(t, err, tc.message)
			made, err := os.ReadFile(starts)
			require.NoError(t, err)
			require.Equal(t, tc.starts, strings.Count(string(made), "start"))
			require.NoFileExists(t, statePath(dir))
		})
	}
}

// ofStandIn is the configuration of a Ray whose first start ends in this way.
func ofStandIn(t *testing.T, first string) Config {
	t.Helper()
	dir := t.TempDir()
	env := []string{standInBegun + "=" + filepath.Join(dir, "begun"), standInFirst + "=" + first}
	return Config{Python: os.Args[0], Dir: dir, Env: env, agentWait: time.Second}
}

func TestARayWhosePartsRespondIsNotReadyBeforeItsStartIsOver(t *testing.T) {
	t.Parallel()
	cfg := ofStandIn(t, neverOver)
	cfg.StartTimeout = time.Second
	_, err := Start(t.Context(), cfg)
	require.ErrorContains(t, err, "the local Ray was not ready after 1s")
}

func TestARayIsStartedAgainWhereItsStartOrItsAgentFails(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{"it gives up": givesUp, "another program has the port of the agent": noAgent} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := ofStandIn(t, first)
			l, err := Start(t.Context(), cfg)
			require.NoError(t, err)
			log, err := os.ReadFile(logPath(cfg.Dir))
			require.NoError(t, err)
			require.Equal(t, "second\n"+started+"\n", string(log))
			require.NoError(t, l.Stop())
		})
	}
}

func TestTheCommandLineKeepsRayOnLoopback(t *testing.T) {
	t.Parallel()
	at, err := newPorts()
	require.NoError(t, err)
	cfg, err := Config{Python: "sh", Dir: t.TempDir(), NumCPUs: 2, NumGPUs: 1}.prepared()
	require.NoError(t, err)
	args := cfg.arguments(at, "/tmp/clray-1/r")
	for _, want := range []string{
		"--node-ip-address=127.0.0.1", "--dashboard-host=127.0.0.1", "--temp-dir=/tmp/clray-1/r", "--num-cpus=2", "--num-gpus=1",
		"--object-store-memory=200000000", "--no-monitor", "--include-log-monitor=false",
	} {
		require.Contains(t, args, want)
	}
	ports := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return !strings.Contains(a, "port=") })
	require.Len(t, ports, 7, "no port has its default, which another Ray may use")
	cfg.NumCPUs, cfg.NumGPUs = 0, 0
	require.NotContains(t, strings.Join(cfg.arguments(at, "/t"), " "), "--num-", "Ray finds out itself")
}

func TestTheFolderIsLockedWhileARayStarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unlock, err := lock(dir)
	require.NoError(t, err)
	second := make(chan error, 1)
	go func() {
		release, err := lock(dir)
		if err == nil {
			err = release()
		}
		second <- err
	}()
	select {
	case err := <-second:
		require.Fail(t, "two hold the lock", "%v", err)
	case <-time.After(50 * time.Millisecond):
	}
	require.NoError(t, unlock())
	require.NoError(t, <-second)
	_, err = lock(filepath.Join(dir, "none"))
	require.ErrorContains(t, err, "lock the folder of the local Ray")
}
