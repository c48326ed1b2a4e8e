//go:build integration

package raylocal_test

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/rayjob/raylocal"
	"github.com/ncsa/clowder-ray/internal/rayjob/raytest"
)

// startDir and startMode tell the test binary, run once more, to start a Ray and to wait for its own end.
const (
	startDir  = "RAYLOCAL_TEST_DIR"
	startMode = "RAYLOCAL_TEST_DETACHED"
)

func TestDetachedRay(t *testing.T) {
	cfg := raylocal.Config{Python: raytest.Python(t), Dir: t.TempDir(), NumCPUs: 2, Detached: true}
	t.Cleanup(func() { require.NoError(t, raylocal.Stop(cfg.Dir)) })
	starter := startElsewhere(t, cfg)
	require.NoError(t, starter.Process.Kill())
	_ = starter.Wait()

	found, err := raylocal.Find(t.Context(), cfg.Dir)
	require.NoError(t, err, "it outlives its starter")
	again, err := raylocal.Start(t.Context(), cfg)
	require.NoError(t, err)
	require.Equal(t, found, again, "starting twice is starting once")
	attached := cfg
	attached.Detached = false
	_, err = raylocal.Start(t.Context(), attached)
	require.ErrorContains(t, err, "another local Ray runs")

	for _, name := range []string{"ray.json", "token"} {
		info, err := os.Stat(filepath.Join(cfg.Dir, name))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	doc, err := os.ReadFile(filepath.Join(cfg.Dir, "ray.json"))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(doc), `"temp":"`)
	temp, _, _ := strings.Cut(rest, `"`)
	info, err := os.Stat(temp)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm(), "no other user reaches the sockets and logs")
	pids := marked(t, cfg.Dir)
	require.NotEmpty(t, pids)
	requireLoopback(t, pids)

	began := time.Now()
	require.NoError(t, raylocal.Stop(cfg.Dir))
	t.Logf("stopped after %s", time.Since(began).Round(10*time.Millisecond))
	for _, pid := range pids {
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)) // that of a zombie is empty
		require.NotContains(t, string(env), "CLOWDER_RAY_LOCAL", "process %d lives", pid)
	}
	require.NoError(t, found.Stop())
	require.NoDirExists(t, temp)
	_, err = raylocal.Find(t.Context(), cfg.Dir)
	require.ErrorIs(t, err, raylocal.ErrNotRunning)
}

func TestAttachedRayEndsWithItsStarter(t *testing.T) {
	cfg := raylocal.Config{Python: raytest.Python(t), Dir: t.TempDir(), NumCPUs: 1}
	t.Cleanup(func() { require.NoError(t, raylocal.Stop(cfg.Dir)) })
	starter := startElsewhere(t, cfg)
	require.NotEmpty(t, marked(t, cfg.Dir))
	require.NoError(t, starter.Process.Kill())
	_ = starter.Wait()
	require.Eventually(t, func() bool { return len(marked(t, cfg.Dir)) == 0 }, 20*time.Second, 50*time.Millisecond)
}

// startElsewhere runs this test binary as the program that starts a Ray, and returns when that is done.
func startElsewhere(t *testing.T, cfg raylocal.Config) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestStarter$", "-test.v")
	cmd.Env = append(os.Environ(), startDir+"="+cfg.Dir, startMode+"="+strconv.FormatBool(cfg.Detached), "RAY_PYTHON="+cfg.Python)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "started after") {
			t.Log(lines.Text())
			return cmd
		}
	}
	require.Fail(t, "the other program started no Ray")
	return nil
}

// TestStarter is that other program.
func TestStarter(t *testing.T) {
	dir := os.Getenv(startDir)
	if dir == "" {
		t.Skip("it is run by the other tests")
	}
	began := time.Now()
	_, err := raylocal.Start(t.Context(), raylocal.Config{
		Python: os.Getenv("RAY_PYTHON"), Dir: dir, NumCPUs: 1, Detached: os.Getenv(startMode) == "true",
	})
	require.NoError(t, err)
	fmt.Printf("started after %s\n", time.Since(began).Round(10*time.Millisecond)) //nolint:forbidigo // the line that the other program waits for
	select {}
}

// marked lists the processes whose environment holds the mark of the Ray in dir.
func marked(t *testing.T, dir string) []int {
	t.Helper()
	state, err := os.ReadFile(filepath.Join(dir, "ray.json"))
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(state), `"mark":"`)
	require.True(t, ok)
	var pids []int
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	for _, path := range environs {
		env, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(env), "CLOWDER_RAY_LOCAL="+rest[:32]) {
			pid, err := strconv.Atoi(strings.Split(path, "/")[2])
			require.NoError(t, err)
			pids = append(pids, pid)
		}
	}
	return pids
}

// requireLoopback checks that no socket of the processes can be reached from another machine.
func requireLoopback(t *testing.T, pids []int) {
	t.Helper()
	listening := map[string]net.IP{} // inode → address
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		raw, err := os.ReadFile(table)
		require.NoError(t, err)
		for _, line := range strings.Split(string(raw), "\n")[1:] {
			if f := strings.Fields(line); len(f) > 9 && f[3] == "0A" {
				listening["socket:["+f[9]+"]"] = address(t, f[1])
			}
		}
	}
	seen := 0
	for _, pid := range pids {
		links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		require.NoError(t, err)
		for _, link := range links {
			target, _ := os.Readlink(link)
			if ip, ok := listening[target]; ok {
				seen++
				require.True(t, ip.IsLoopback(), "process %d listens on %s", pid, ip)
			}
		}
	}
	require.GreaterOrEqual(t, seen, 5)
}

// address reads an address as the kernel prints it: 32-bit words in the byte order of the machine, which is little here.
func address(t *testing.T, text string) net.IP {
	t.Helper()
	host, _, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(host)
	require.NoError(t, err)
	for i := 0; i < len(raw); i += 4 {
		raw[i], raw[i+1], raw[i+2], raw[i+3] = raw[i+3], raw[i+2], raw[i+1], raw[i]
	}
	return raw
}
