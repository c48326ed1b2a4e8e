package scripts

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAShellSplitsArgumentsAsTheyWereGiven: the form carries the arguments as one text, which nothing may expand on the way to the script.
func TestAShellSplitsArgumentsAsTheyWereGiven(t *testing.T) {
	t.Parallel()
	for name, given := range map[string][]string{
		"options":                {"--lr=1e-3", "--data", "a/b.csv", "-v", "@file", "x:y", "50%", "+1"},
		"nothing at all":         {"", "", "x", ""},
		"blanks":                 {" ", "\t", " a  b ", "\u00a0"},
		"several lines":          {"first\nsecond\n", "\r\n"},
		"quotes":                 {"'", `"`, `'"'"'`, "it's", `say "no"`, "`id`"},
		"backslashes":            {`\`, `a\`, `\n`, `\\'`, `C:\data`},
		"variables and commands": {"$HOME", "${HOME}", "$(id)", "$'x'", "~", "~root", "a;b", "a&b", "a|b", "a>b", "<a", "(a)"},
		"patterns":               {"*", "?", "[a-z]", "!x", "#note", "^"},
		"other alphabets":        {"käse", "日本語", "👍", "\u202e", "e\u0301"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values, err := Local(t.TempDir(), Auto, given)
			require.NoError(t, err)
			text, ok := values["arguments"].(string)
			require.True(t, ok)
			out, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", `printf '%s\0' `+text).Output()
			require.NoError(t, err, text)
			require.Equal(t, given, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), text)
		})
	}
	values, err := Local(t.TempDir(), Auto, nil)
	require.NoError(t, err)
	require.Empty(t, values, "no arguments are no text, so the form keeps its own")
}
