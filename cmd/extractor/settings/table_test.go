package settings_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/cmd/extractor/settings"
)

var update = flag.Bool("update", false, "write the table of settings into docs/configuration.md")

func TestEverySettingHasAFlag(t *testing.T) {
	t.Parallel()
	fs := pflag.NewFlagSet("t", pflag.ContinueOnError)
	settings.AddFlags(fs)
	for _, row := range settings.Table() {
		require.NotNil(t, fs.Lookup(strings.ReplaceAll(row.Key, "_", "-")), row.Key)
	}
}

func TestConfigurationListsEverySetting(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "..", "..", "docs", "configuration.md")
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	var want strings.Builder
	want.WriteString("| variable | key | default | meaning |\n|---|---|---|---|\n")
	for _, row := range settings.Table() {
		value := "`" + fmt.Sprint(row.Value) + "` "
		if value == "`` " || value == "`[]` " {
			value = ""
		}
		fmt.Fprintf(&want, "| `%s` | `%s` | %s| %s |\n", row.Env, row.Key, value, row.Help)
	}
	if before, rest, found := strings.Cut(string(page), "| variable |"); *update && found {
		_, after, _ := strings.Cut(rest, "\n\n")
		page = []byte(before + want.String() + "\n" + after)
		require.NoError(t, os.WriteFile(file, page, 0o600))
	}
	require.Contains(t, string(page), want.String(), "write it again with -update")
}
