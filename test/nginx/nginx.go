// Package nginx starts Debian's NGINX for tests.
package nginx

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	program = "/usr/sbin/nginx"
	// startTimeout is how long a start may take on a busy machine.
	startTimeout = time.Minute
)

// Start starts a server with these directives on a port of the loopback address, and stops it at the end of the test. Without NGINX
// the test is skipped.
func Start(tb testing.TB, port int, directives string) {
	tb.Helper()
	if _, err := os.Stat(program); err != nil {
		tb.Skip("there is no NGINX: install the package nginx-light")
	}
	dir := tb.TempDir()
	config := filepath.Join(dir, "nginx.conf")
	require.NoError(tb, os.WriteFile(config, fmt.Appendf(nil, `
daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/error.log;
events {}
http {
	access_log off;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
	server {
		listen 127.0.0.1:%[2]d;
		%[3]s
	}
}`, dir, port, directives), 0o600))
	server := exec.CommandContext(context.Background(), program, "-p", dir, "-c", config, "-e", filepath.Join(dir, "error.log"))
	require.NoError(tb, server.Start())
	tb.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	require.Eventually(tb, func() bool {
		line, err := new(net.Dialer).DialContext(tb.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		return err == nil && line.Close() == nil
	}, startTimeout, 20*time.Millisecond)
}
