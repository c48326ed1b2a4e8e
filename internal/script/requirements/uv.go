package requirements

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// passed are the variables of this process that uv needs to reach the index.
var passed = []string{"SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy"}

const (
	// mostOutput bounds what is kept of the output of uv, in bytes.
	mostOutput = 64 << 10
	// uvEnds is how long uv has to end after it was killed.
	uvEnds = 5 * time.Second
)

// uv runs uv in the folder of the installation, with an environment of its own, and returns what it printed.
func (w *work) uv(ctx context.Context, args ...string) (string, error) {
	command := append([]string{"-I", "-m", "uv"}, args...)
	return w.python(ctx, append(command, "--no-config", "--no-python-downloads", "--keyring-provider", "disabled", "--color", "never", "--cache-dir", "cache")...)
}

// python runs the interpreter of the installation.
func (w *work) python(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, w.cfg.Python, args...)
	cmd.Dir, cmd.WaitDelay = w.dir, uvEnds
	// The address may contain a password, which an argument would show to everybody on this machine.
	cmd.Env = []string{"HOME=" + w.dir, "TMPDIR=" + w.dir, "UV_DEFAULT_INDEX=" + w.cfg.IndexURL.Reveal(), "PYTHONDONTWRITEBYTECODE=1"}
	for _, name := range passed {
		if value := os.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	// uv starts processes of its own: all of them end with the installation.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	output := &limited{}
	cmd.Stdout, cmd.Stderr = output, output
	err := cmd.Run()
	return output.String(), err
}

// limited keeps the first bytes of an output.
type limited struct{ bytes.Buffer }

// Write implements io.Writer. It never fails.
func (l *limited) Write(p []byte) (int, error) {
	_, _ = l.Buffer.Write(p[:min(len(p), max(0, mostOutput-l.Len()))])
	return len(p), nil
}

// stubFolder holds wheels without content in the folder of an installation.
const stubFolder = "stubs"

// Interpreter returns the path of a Python, which may be a name on the PATH, or an error if it is not there.
func Interpreter(python string) (string, error) {
	path, err := exec.LookPath(python)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// Version returns the version of uv that a Python has.
func Version(ctx context.Context, python string) (string, error) {
	path, err := Interpreter(python)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, path, "-I", "-m", "uv", "--version")
	cmd.Env = []string{}
	output, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s has no uv", python)
	}
	version, _, _ := strings.Cut(strings.TrimSpace(string(output)), " (")
	return version, nil
}
