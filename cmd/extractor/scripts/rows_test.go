package scripts

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/s3"
	"github.com/ncsa/clowder-ray/internal/script"
)

// TestEverySettingHasARow: a field without a row cannot be set, and a row without a field is refused when the settings are read.
func TestEverySettingHasARow(t *testing.T) {
	t.Parallel()
	fields, rows := map[string]reflect.Type{}, map[string]bool{}
	for f := range reflect.TypeFor[Settings]().Fields() {
		fields[f.Tag.Get("mapstructure")] = f.Type
	}
	for _, r := range Rows() {
		require.False(t, rows[r.Key], "%s is named twice", r.Key)
		rows[r.Key] = true
		require.Contains(t, fields, r.Key)
		require.Equal(t, strings.ToUpper(r.Key), r.Env)
		require.NotEmpty(t, r.Help, r.Key)
		require.NotContains(t, r.Help, "|", "%s: it would break the table of the documentation", r.Key)
	}
	require.Len(t, rows, len(fields))
}

func TestALimitOfZeroIsNoLimitWhereTheRowSaysSo(t *testing.T) {
	t.Parallel()
	set := plain()
	set.MemoryBytes, set.Processes, set.DiskBytes, set.Files, set.FileBytes, set.LogBytes, set.OutputBytes, set.Grace, set.PackagesBytes = 0, 0, 0, 0, 0, 0, 0, 0, 0
	require.Empty(t, faults(set))
	for name, change := range map[string]func(*Settings){
		"SCRIPT_PROCESSES":    func(s *Settings) { s.Processes = -1 },
		"SCRIPT_FILES":        func(s *Settings) { s.Files = -1 },
		"SCRIPT_OUTPUT_BYTES": func(s *Settings) { s.OutputBytes = -1 },
		"SCRIPT_GRACE":        func(s *Settings) { s.Grace = -1 },
	} {
		bad := plain()
		change(&bad)
		require.Equal(t, []string{name + ": must not be negative"}, faults(bad))
	}
	for name, change := range map[string]func(*Settings){
		"SCRIPT_PACKAGE_COUNT": func(s *Settings) { s.PackageCount = 0 },
		"SCRIPT_PACKAGE_BYTES": func(s *Settings) { s.PackageBytes = 0 },
		"SCRIPT_PACKAGE_TIME":  func(s *Settings) { s.PackageTime = 0 },
	} {
		bad := plain()
		change(&bad)
		require.Equal(t, []string{name + ": must be positive"}, faults(bad))
	}
}

func TestAllFaultsAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	set := plain()
	set.Check, set.GPU, set.Network, set.Files, set.PackageCount = "no", "true", "", -1, 0
	set.TrustedUsers = []string{LocalUser, "alice@example.org", "bob"}
	found := strings.Join(faults(set), "\n")
	for _, name := range []string{"SCRIPT_CHECK", `SCRIPT_GPU: must be one of no, yes, got "true"`, `SCRIPT_NETWORK: must be one of no, yes, got ""`, "SCRIPT_FILES", "SCRIPT_PACKAGE_COUNT", `"bob" is not an e-mail address`} {
		require.Contains(t, found, name)
	}
	require.Len(t, faults(set), 6)
}

func TestObjectStoresComeFromTheFileOfTheAdministrator(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func(file string) (any, error) {
		return (&Settings{S3Sources: file}).Objects(s3.Limits{}, nil, zap.NewNop())
	}
	store, err := open("")
	require.NoError(t, err)
	require.Nil(t, store, "no file, no store")
	for name, body := range map[string]string{"misspelt": "place: []\n", "broken": "places: [", "nothing allowed": "places: [{bucket: b}]\n"} {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(body), 0o600))
		_, err := open(file)
		require.ErrorContains(t, err, "S3_SOURCES: "+file, name)
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindPermanent, kind, name)
	}
	_, err = open(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "S3_SOURCES")
}

func TestAnAllowListThatIsGoneAllowsNothing(t *testing.T) {
	t.Parallel()
	list := filepath.Join(t.TempDir(), "packages.txt")
	require.NoError(t, os.WriteFile(list, []byte("datasets<5\n"), 0o600))
	set := plain()
	set.Requirements, set.IndexURL, set.PackagesFile = "allow-list", "https://a.example.org/simple", list
	require.Empty(t, faults(set))
	require.NoError(t, os.Remove(list))
	require.Len(t, faults(set), 1)
	p := set.Preparer(filepath.Join(t.TempDir(), "none"), disk.Folder{Volume: t.TempDir()})
	require.NotNil(t, p.Packages)
	require.Equal(t, script.SandboxAuto, p.Policy.Sandbox)
}
