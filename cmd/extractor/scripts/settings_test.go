package scripts

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/script"
)

// plain are valid settings.
func plain() Settings {
	return Settings{
		Sandbox: "auto", Check: "report", GPU: "no", Network: "no", Requirements: "off", Grace: 30 * time.Second, CheckpointEvery: time.Minute,
		PackageCount: 100, PackageBytes: 1, PackageTime: time.Minute,
	}
}

// faults returns what Validate reports.
func faults(s Settings) (all []string) {
	s.Validate(func(format string, args ...any) { all = append(all, fmt.Errorf(format, args...).Error()) })
	return all
}

func TestInvalidSettingsAreNamed(t *testing.T) {
	t.Parallel()
	list := filepath.Join(t.TempDir(), "packages.txt")
	require.NoError(t, os.WriteFile(list, []byte("datasets<5\n-r more.txt\n"), 0o600))
	for name, tc := range map[string]struct {
		change func(*Settings)
		want   string
	}{
		"a sandbox":                    {func(s *Settings) { s.Sandbox = "docker" }, `SCRIPT_SANDBOX: must be one of auto, bubblewrap, gvisor, none, got "docker"`},
		"no sandbox for everybody":     {func(s *Settings) { s.Sandbox = "none" }, "SCRIPT_SANDBOX: none requires SCRIPT_TRUSTED_USERS"},
		"a user who is no address":     {func(s *Settings) { s.TrustedUsers = []string{"alice"} }, `SCRIPT_TRUSTED_USERS: "alice" is not an e-mail address`},
		"a check":                      {func(s *Settings) { s.Check = "block" }, "SCRIPT_CHECK: must be one of"},
		"a negative limit":             {func(s *Settings) { s.MemoryBytes = -1 }, "SCRIPT_MEMORY_BYTES: must not be negative"},
		"snapshots all the time":       {func(s *Settings) { s.CheckpointEvery = 0 }, "SCRIPT_CHECKPOINT_EVERY: must be positive"},
		"packages of no index":         {func(s *Settings) { s.Requirements = "index" }, "SCRIPT_INDEX_URL: SCRIPT_REQUIREMENTS=index needs the address"},
		"a file as an index":           {func(s *Settings) { s.Requirements, s.IndexURL = "index", "file:///user:secret@x" }, "SCRIPT_INDEX_URL"},
		"an allow-list without a file": {func(s *Settings) { s.Requirements, s.IndexURL = "allow-list", "https://a.example.org" }, "SCRIPT_PACKAGES_FILE: open"},
		"an allow-list that cannot hold": {func(s *Settings) {
			s.Requirements, s.IndexURL, s.PackagesFile = "allow-list", "https://a.example.org", list
		}, "line 2: options such as"},
	} {
		set := plain()
		tc.change(&set)
		found := faults(set)
		require.NotEmpty(t, found, name)
		require.Contains(t, found[0], tc.want, name)
		require.NotContains(t, found[0], "secret")
	}
	require.Empty(t, faults(plain()))
}

func TestTheSettingsBecomeThePolicy(t *testing.T) {
	t.Parallel()
	set := plain()
	set.Sandbox, set.TrustedUsers, set.GPU, set.MemoryBytes = "none", []string{"alice@example.org"}, "yes", 5
	require.Empty(t, faults(set))
	p := set.Preparer("python", disk.Folder{Volume: t.TempDir(), Name: "overlays"})
	require.True(t, p.NeedsUser())
	spec, _, err := p.Allow(script.Request{User: "alice@example.org"})
	require.NoError(t, err)
	require.Equal(t, script.Spec{
		Sandbox: "none", Check: "report", Limits: script.Limits{MemoryBytes: 5, GraceSeconds: 30}, CheckpointSeconds: 60, GPU: true,
	}, spec)
	require.NotContains(t, fmt.Sprintf("%v %+v", set, set), "canary")
	set.IndexURL = "https://reader:canary@packages.example.org/simple"
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", set, set, set), "canary", "the address may contain a password")
}
