package repository

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTestsThatHavePassedRunAgainAfterAChangeOnly uses test/setup/once.sh, to which the Makefile gives the tests of the trainer.
func TestTestsThatHavePassedRunAgainAfterAChangeOnly(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs("../setup/once.sh")
	require.NoError(t, err)
	dir := t.TempDir()
	write := func(name, content string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	runs := func(command string, environ ...string) (ran, passed bool) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), script, "passed", "input", "--", "bash", "-c", "echo began; "+command)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), append([]string{"FRESH="}, environ...)...)
		out, err := cmd.Output()
		if string(out) == "3 passed (earlier; nothing that these tests read has changed since. FRESH=1 runs them again)\n" {
			return false, err == nil
		}
		require.Contains(t, string(out), "began\n")
		return true, err == nil
	}
	requireRuns := func(ran, passed bool, command string, environ ...string) {
		t.Helper()
		gotRan, gotPassed := runs(command, environ...)
		require.Equal(t, [2]bool{ran, passed}, [2]bool{gotRan, gotPassed})
	}
	const passes = "echo 3 passed"
	write("input/a.py", "1")
	requireRuns(true, true, passes)
	requireRuns(false, true, passes)
	requireRuns(true, true, passes, "FRESH=1")
	write("input/__pycache__/a.pyc", "compiled")
	requireRuns(false, true, passes)
	write("input/b.py", "2")
	requireRuns(true, true, passes)
	require.NoError(t, os.Remove(filepath.Join(dir, "input", "b.py")))
	requireRuns(false, true, passes)
	requireRuns(true, true, passes+" # another command")

	write("input/a.py", "3")
	requireRuns(true, false, "exit 1")
	requireRuns(true, false, "exit 1")
	requireRuns(true, true, "echo 4 >input/a.py; "+passes)
	requireRuns(true, true, "echo 5 >input/a.py; "+passes)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "input")))
	require.Error(t, exec.CommandContext(t.Context(), script, filepath.Join(dir, "passed"), filepath.Join(dir, "input"), "--", "true").Run())
}
