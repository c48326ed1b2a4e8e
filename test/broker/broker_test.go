//go:build integration

package broker

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// orphan, in the environment, makes the test binary start a broker, say where, and hang.
const orphan = "BROKER_TEST_ORPHAN"

func TestABrokerStartsDiesReturnsAndLeavesNothing(t *testing.T) {
	t.Parallel()
	b, err := Start(t.Context(), Options{})
	if err != nil {
		check(t, b, err)
	}
	dir, addr, node, mapper := b.dir, b.Addr(), b.node.pid(), b.mapper.pid()
	require.Contains(t, b.URI(), "amqp://guest:guest@127.0.0.1:")
	out, err := b.Ctl(t.Context(), "list_vhosts", "--quiet")
	require.NoError(t, err)
	require.Contains(t, out, "/")
	out, err = b.Eval(t.Context(), "1 + 1.")
	require.NoError(t, err)
	require.Equal(t, "2", out)
	_, err = b.Eval(t.Context(), "this is no Erlang.")
	require.Error(t, err)

	b.Kill()
	require.False(t, alive(node))
	require.NoError(t, b.Revive(t.Context()))
	require.Equal(t, addr, b.Addr())
	node = b.node.pid()

	require.NoError(t, b.Stop())
	require.NoError(t, b.Stop(), "a second time")
	require.False(t, alive(node))
	require.False(t, alive(mapper))
	require.NoDirExists(t, dir)
	_, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	require.Error(t, err)
}

func TestABrokerEndsWithTheProcessThatStartedIt(t *testing.T) {
	t.Parallel()
	if os.Getenv(orphan) != "" {
		b, err := Start(t.Context(), Options{})
		require.NoError(t, err)
		fmt.Printf("\n%s %d %d %s\n", orphan, b.node.pid(), b.mapper.pid(), b.dir) //nolint:forbidigo // the parent reads it
		<-t.Context().Done()
		return
	}
	if _, _, err := installed(); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	child := exec.CommandContext(ctx, os.Args[0], "-test.run", "^"+t.Name()+"$")
	child.Env = append(os.Environ(), orphan+"=1")
	stdout, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	var node, mapper int
	var dir string
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), orphan) {
			_, err := fmt.Sscanf(lines.Text(), orphan+" %d %d %s", &node, &mapper, &dir)
			require.NoError(t, err)
			break
		}
	}
	require.True(t, alive(node))
	require.NoError(t, child.Process.Kill())
	_ = child.Wait()
	require.Eventually(t, func() bool {
		_, err := os.Stat(dir)
		return !alive(node) && !alive(mapper) && os.IsNotExist(err)
	}, 10*time.Second, 10*time.Millisecond)
}

func TestAVirtualHostIsOfOneTest(t *testing.T) {
	t.Parallel()
	b := ForTest(t)
	one, two := b.Vhost(t), b.Vhost(t)
	require.NotEqual(t, one, two)
	require.Same(t, b, ForTest(t))
}

// alive reports whether a process runs. One that ended and that nobody has waited for, as happens to orphans in a
// container, does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}
