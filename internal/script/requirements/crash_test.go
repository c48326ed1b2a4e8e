//go:build integration && crash

package requirements

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
)

// crashIndex and crashDir tell the process that is killed what to install and where.
const (
	crashIndex = "CRASH_TEST_INDEX"
	crashDir   = "CRASH_TEST_DIR"
)

// TestInstallAndDie is the process that TestAnInstallationThatWasKilledIsRepeated kills.
func TestInstallAndDie(t *testing.T) { //nolint:paralleltest // it ends the process
	if os.Getenv(crashDir) == "" {
		t.Skip("it is started by another test")
	}
	i := New(Config{
		Mode: Index, IndexURL: job.Secret(os.Getenv(crashIndex)), Python: withUV(t), MostPackages: 10, MostBytes: 1 << 20, Timeout: time.Minute,
	}, disk.Folder{Volume: os.Getenv(crashDir), Name: "overlays"})
	_, err := i.Install(t.Context(), []byte("alpha"))
	require.NoError(t, err)
}

func TestAnInstallationThatWasKilledIsRepeated(t *testing.T) {
	t.Parallel()
	source := newIndex(t)
	i, dir := newInstaller(t, source, func(c *Config) { c.Image = nil })
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestInstallAndDie$")
	cmd.Env = append(os.Environ(), crashIndex+"="+source.url, crashDir+"="+filepath.Dir(dir), "CRASH_AT="+string(crash.Packed))
	output, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, 137, cmd.ProcessState.ExitCode(), "%s", output)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.True(t, strings.HasPrefix(entries[0].Name(), making), "no overlay has a name before it is complete")

	overlay, err := i.Install(t.Context(), []byte("alpha"))
	require.NoError(t, err)
	require.Contains(t, listing(t, filepath.Join(dir, overlay.Name)), "alpha/__init__.py")
}
