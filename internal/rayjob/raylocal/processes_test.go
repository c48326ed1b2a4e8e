package raylocal

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"github.com/stretchr/testify/require"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	rest := " 100 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654" + strings.Repeat(" 0", 30) + "\n"
	want := process{pid: 4242, parent: 17, session: 100, started: 987654}
	for name, tc := range map[string]struct {
		stat string
		ok   bool
	}{
		"plain":                {"4242 (raylet) S 17 4193" + rest, true},
		"a name with brackets": {"4242 (a) b (c)) S 17 4193" + rest, true},
		"a zombie":             {"4242 (raylet) Z 17 4193" + rest, false},
		"cut off":              {"4242 (raylet) S 17", false},
		"nothing":              {"", false},
		"no number":            {"4242 (raylet) S x 4193" + rest, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mount := t.TempDir()
			require.NoError(t, os.MkdirAll(filepath.Join(mount, "4242"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(mount, "4242", "stat"), []byte(tc.stat), 0o600))
			fs, err := procfs.NewFS(mount)
			require.NoError(t, err)
			f, err := fs.Proc(4242)
			require.NoError(t, err)
			got, ok := readProcess(f)
			require.Equal(t, tc.ok, ok)
			if ok {
				require.Equal(t, want, got)
			}
		})
	}
}

// sleeper starts a shell in a session of its own, with a mark, that starts what script says and then prints a line.
func sleeper(t *testing.T, mark, script string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sh", "-c", script+"; echo ready; exec sleep 60")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), markName + "=" + mark}
	var err error
	cmd.SysProcAttr, err = attributes(true)
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

func TestEndAllEndsExactlyTheProcessesWithTheMark(t *testing.T) {
	t.Parallel()
	mine, others := random(), random()
	bystander := sleeper(t, others, "true")
	// One child keeps the mark, one loses it, one leaves the session, one does both and is found as a descendant.
	cmd := sleeper(t, mine, "sleep 61 & env -i sleep 62 & setsid sleep 63 & setsid env -i sleep 64 & "+
		"sh -c 'trap \"\" TERM; while :; do sleep 0.1; done' & sleep 0.3")
	var found []process
	require.Eventually(t, func() bool {
		var err error
		found, err = processes(mine)
		require.NoError(t, err)
		return len(found) >= 6
	}, 10*time.Second, 10*time.Millisecond)
	require.NoError(t, endAll(mine))
	for _, p := range found {
		require.False(t, p.alive(), "process %d lives", p.pid)
	}
	require.Error(t, cmd.Wait(), "it was ended by a signal")
	left, err := processes(others)
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Equal(t, bystander.Process.Pid, left[0].pid)
	require.NoError(t, endAll(random()), "nothing to end is no error")
}

func TestASignalMissesAnotherProcessWithTheSameID(t *testing.T) {
	t.Parallel()
	cmd := sleeper(t, random(), "true")
	f, err := procfs.NewProc(cmd.Process.Pid)
	require.NoError(t, err)
	p, ok := readProcess(f)
	require.True(t, ok)
	other := p
	other.started++
	require.NoError(t, other.signal(syscall.SIGKILL))
	require.True(t, p.alive())
	require.NoError(t, process{pid: 1 << 30}.signal(syscall.SIGKILL), "no such process is no error")
}

func TestPortsStayClearOfThoseOfWorkersAndOfConnections(t *testing.T) {
	t.Parallel()
	ports, err := freePorts(50)
	require.NoError(t, err)
	seen := map[int]bool{}
	for _, port := range ports {
		require.GreaterOrEqual(t, port, portFirst)
		require.Less(t, port, portLimit)
		require.False(t, seen[port], port)
		seen[port] = true
	}
}

func TestEnvironmentHoldsNoSecretOfTheService(t *testing.T) {
	t.Setenv("RABBITMQ_URI", "amqp://secret")
	t.Setenv("RAY_ADDRESS", "other:6379")
	t.Setenv("LC_ALL", "C.UTF-8")
	env := Config{Python: "/env/bin/python", Dir: "/d", Env: []string{"A=b"}}.environment("m")
	text := strings.Join(env, "\n")
	require.NotContains(t, text, "secret")
	require.NotContains(t, text, "RAY_ADDRESS")
	require.Contains(t, env, "LC_ALL=C.UTF-8")
	require.Contains(t, env, "A=b")
	require.Contains(t, text, "PATH=/env/bin:")
}

func TestConfigFaults(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]Config{
		"no folder":          {Python: "sh"},
		"no such Python":     {Python: "no-such-python", Dir: "d"},
		"a negative number":  {Python: "sh", Dir: "d", NumCPUs: -1},
		"a bare environment": {Python: "sh", Dir: "d", Env: []string{"A"}},
	} {
		_, err := cfg.prepared()
		require.Error(t, err, name)
	}
	cfg, err := Config{Python: "sh", Dir: "d"}.prepared()
	require.NoError(t, err)
	require.Equal(t, defaultStartTimeout, cfg.StartTimeout)
	require.Equal(t, int64(defaultObjectStore), cfg.ObjectStore)
}

func TestAPythonWithoutRay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	python := dir + "/python"
	require.NoError(t, os.WriteFile(python, []byte("#!/bin/sh\necho 'No module named ray' >&2\nexit 1\n"), 0o700))
	_, err := Start(t.Context(), Config{Python: python, Dir: dir})
	require.ErrorContains(t, err, "No module named ray")
	_, err = Find(t.Context(), dir)
	require.ErrorIs(t, err, ErrNotRunning)
	require.NoFileExists(t, tokenPath(dir))
	require.NoError(t, Stop(dir))
	require.NoError(t, Stop(dir+"/nothing"))
}

func TestAStateOfSomebodyElseIsRefused(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]string{
		"no JSON": "x", "no mark": `{"temp": "/tmp/clray-1"}`, "a short mark": `{"mark": "ab", "temp": "/tmp/clray-1"}`,
		"another folder": `{"mark": "` + random() + `", "temp": "/home"}`, "a folder within": `{"mark": "` + random() + `", "temp": "/tmp/clray-1/.."}`,
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(statePath(dir), []byte(doc), 0o600))
		require.Error(t, Stop(dir), name)
	}
}
