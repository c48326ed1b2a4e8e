//go:build integration

package child_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/rayjob"
	"github.com/ncsa/clowder-ray/internal/rayjob/child"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
)

// starterDir tells the test binary, run once more, in which run folder it starts an attempt before it waits for its own end.
const starterDir = "CHILD_TEST_DIR"

func TestChildProcessesKeepTheContract(t *testing.T) {
	t.Parallel()
	backend := child.New(child.Config{Dir: t.TempDir()})
	t.Cleanup(backend.Close)
	raytest.TestBackend(t, raytest.Fixture{
		Python: raytest.Python(t), TrainerPath: raytest.InstallProgram(t), Timeout: time.Minute,
		Restart: func(*testing.T) { backend.Close() }, Lost: "restarted",
		Backend: func(*testing.T, job.Secret) rayjob.Backend { return backend },
	})
}

func TestATrainingThatDoesNotStopIsKilledAfterTheGracePeriod(t *testing.T) {
	t.Parallel()
	backend, a := child.New(child.Config{Dir: t.TempDir(), Grace: time.Millisecond}), attempt(t, t.TempDir())
	t.Cleanup(backend.Close)
	require.NoError(t, os.MkdirAll(filepath.Join(a.TrainerPath, "trainer"), 0o750))
	deaf := "import pathlib, signal, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" +
		"pathlib.Path(sys.argv[2]).with_name('starts').touch()\nwhile True: time.sleep(9)\n"
	require.NoError(t, os.WriteFile(filepath.Join(a.TrainerPath, "trainer", "__main__.py"), []byte(deaf), 0o600))
	h, err := backend.Submit(t.Context(), a)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return exists(a.Dir, "starts") }, time.Minute, 10*time.Millisecond)
	require.Eventually(t, func() bool { return backend.Release(t.Context(), h) == nil }, time.Minute, 10*time.Millisecond)
}

// TestATrainingEndsWithTheProgramThatStartedIt kills this program, which leaves it no time to end anything.
func TestATrainingEndsWithTheProgramThatStartedIt(t *testing.T) {
	if dir := os.Getenv(starterDir); dir != "" {
		_, err := child.New(child.Config{Dir: dir}).Submit(t.Context(), attempt(t, dir))
		require.NoError(t, err)
		<-t.Context().Done()
	}
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "spec.json"), []byte(`{"print": "", "exit": 0, "wait": true}`), 0o600))
	starter := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	starter.Env = append(os.Environ(), starterDir+"="+dir)
	require.NoError(t, starter.Start())
	require.Eventually(t, func() bool { return exists(dir, "starts") }, time.Minute, 10*time.Millisecond)
	require.NoError(t, starter.Process.Kill())
	require.Error(t, starter.Wait())
	require.Eventually(t, func() bool { return exists(dir, "stopped") }, time.Minute, 10*time.Millisecond, "it is asked to end, so that it can save itself")
}

func attempt(t *testing.T, dir string) rayjob.Attempt {
	t.Helper()
	return rayjob.Attempt{Run: "ft-child", Number: 1, Dir: dir, Python: raytest.Python(t), TrainerPath: raytest.InstallProgram(t)}
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}
