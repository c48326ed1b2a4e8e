package raylocal

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

// value is what a process finds in a variable: the last one counts, as in os/exec.
func value(env []string, name string) string {
	found := ""
	for _, kv := range env {
		if after, ok := strings.CutPrefix(kv, name+"="); ok {
			found = after
		}
	}
	return found
}

func TestNoSettingTakesTheTokenOrTheMarkFromARay(t *testing.T) {
	t.Setenv(markName, "of another Ray")
	t.Setenv("RAY_AUTH_MODE", "disabled")
	t.Setenv("CUDA_VISIBLE_DEVICES", "1")
	t.Setenv("XDG_CACHE_HOME", "/cache")
	t.Setenv("CUDA", "canary") // no prefix without its underscore
	t.Setenv("PATH", "/usr/bin:/bin")
	added := []string{"RAY_AUTH_MODE=disabled", markName + "=mine", "CUDA_VISIBLE_DEVICES=0", "PATH=/evil", "A=b=c"}
	c := Config{Python: "/env/bin/python", Dir: "/d", Env: added}
	env := c.environment("m")
	for name, want := range map[string]string{
		markName: "m", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": "/d/token", "RAY_USAGE_STATS_ENABLED": "0",
		"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
		"PATH":                              "/env/bin:/usr/bin:/bin", "CUDA_VISIBLE_DEVICES": "0", "XDG_CACHE_HOME": "/cache", "A": "b=c", "CUDA": "",
	} {
		require.Equal(t, want, value(env, name), name)
	}
}

func TestWhatIsWrongWithTheSettingsIsSaid(t *testing.T) {
	t.Parallel()
	const negative = "the CPUs, GPUs, object store and start timeout of the local Ray must not be negative"
	const list = "the environment of the local Ray must be a list of KEY=value"
	for name, tc := range map[string]struct {
		cfg  Config
		want string
	}{
		"no folder":             {Config{Python: "sh"}, "the local Ray needs a folder"},
		"GPUs below nothing":    {Config{Python: "sh", Dir: "d", NumGPUs: -1}, negative},
		"memory below nothing":  {Config{Python: "sh", Dir: "d", ObjectStore: -1}, negative},
		"time below nothing":    {Config{Python: "sh", Dir: "d", StartTimeout: -1}, negative},
		"a value without a key": {Config{Python: "sh", Dir: "d", Env: []string{"A=b", "=canary"}}, list},
		"a key without a value": {Config{Python: "sh", Dir: "d", Env: []string{"canary"}}, list}, // a secret that was pasted alone
	} {
		_, err := Start(t.Context(), tc.cfg)
		require.EqualError(t, err, tc.want, name)
		require.NoDirExists(t, "d")
	}
	_, err := Start(t.Context(), Config{Python: "no-such-python", Dir: "d"})
	require.ErrorContains(t, err, "set RAY_PYTHON to an interpreter that has Ray")
	cfg, err := Config{Python: "sh", Dir: "d", ObjectStore: 1, StartTimeout: time.Second}.prepared()
	require.NoError(t, err)
	require.True(t, filepath.IsAbs(cfg.Dir), "Ray works in another folder")
	require.True(t, filepath.IsAbs(cfg.Python))
	require.Equal(t, []any{int64(1), time.Second}, []any{cfg.ObjectStore, cfg.StartTimeout})
}

func TestTheSocketsOfARayFitIntoTheirPath(t *testing.T) {
	for name, parent := range map[string]string{"a short folder": "/tmp", "a long one": filepath.Join(t.TempDir(), strings.Repeat("x", 100))} {
		t.Setenv("TMPDIR", parent)
		dir, err := tempDir()
		require.NoError(t, err, name)
		require.LessOrEqual(t, len(dir), maxTemp)
		require.Regexp(t, tempForm, dir, "the state of a Ray with another folder is refused")
		info, err := os.Stat(dir)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o700), info.Mode().Perm(), "others reach no socket in it")
		require.NoError(t, os.Remove(dir))
	}
}

func TestAStateIsReplacedAsAWhole(t *testing.T) {
	t.Parallel()
	dir, s := recorded(t, "http://127.0.0.1:1", random(), false)
	require.NoError(t, os.WriteFile(statePath(dir)+".new", []byte("half of a sta"), 0o644)) // a program that was killed left it
	s.Address = "http://127.0.0.1:2"
	require.NoError(t, s.write(dir, "second-token"))
	got, token, err := readState(dir)
	require.NoError(t, err)
	require.Equal(t, s, got)
	require.Equal(t, job.Secret("second-token"), token)
	require.NoFileExists(t, statePath(dir)+".new")

	require.NoError(t, os.Remove(tokenPath(dir)))
	_, token, err = readState(dir)
	require.NoError(t, err, "the processes of a Ray without its token can still be ended")
	require.Empty(t, token)
	require.NoError(t, os.Mkdir(tokenPath(dir), 0o700))
	_, _, err = readState(dir)
	require.ErrorContains(t, err, "read the token of the local Ray: ")
	require.ErrorContains(t, s.write(dir, "third-token"), "write the state of the local Ray: ")
}

func TestTheFilesOfARayThatWasKilledAreRemovedBeforeTheNextStart(t *testing.T) {
	t.Parallel()
	dir, old := recorded(t, "http://127.0.0.1:1", random(), true)
	python := filepath.Join(t.TempDir(), "python")
	syscall.ForkLock.RLock() // a child that has the file open for writing would keep it from being run
	err := os.WriteFile(python, []byte("#!/bin/sh\necho 'ValueError: no such resource' >&2\nexit 1\n"), 0o700)
	syscall.ForkLock.RUnlock()
	require.NoError(t, err)
	_, err = Start(t.Context(), Config{Python: python, Dir: dir, Detached: true})
	require.ErrorContains(t, err, "it ended immediately: ValueError: no such resource (see "+logPath(dir)+")")
	require.NoDirExists(t, old.Temp)
	require.NoFileExists(t, statePath(dir))
	require.NoFileExists(t, tokenPath(dir))
	info, err := os.Stat(logPath(dir))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestATrainingIsToldFromRayByItsSession(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		all  []process
		want bool
	}{
		"Ray alone":                       {[]process{{pid: 2, session: 7, started: 20}, {pid: 1, session: 7, started: 10}}, false},
		"a training":                      {[]process{{pid: 1, session: 7, started: 10}, {pid: 3, session: 9, started: 30}}, true},
		"a training that is listed first": {[]process{{pid: 3, session: 9, started: 30}, {pid: 1, session: 7, started: 10}}, true},
		"one process":                     {[]process{{pid: 1, session: 7, started: 10}}, false},
	} {
		require.Equal(t, tc.want, anyTraining(tc.all), name)
	}
	require.Equal(t, 7, ownSession([]process{{pid: 1, session: 1}, {pid: os.Getpid(), session: 7}}))
	require.Zero(t, ownSession(nil))
}
