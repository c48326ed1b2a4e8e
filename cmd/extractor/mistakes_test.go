package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAMistypedCommandEndsWithTheCodeForBadInput(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no such command":             {[]string{"nonsense"}, `unknown command "nonsense" for "extractor"`},
		"no such command of a group":  {[]string{"jobs", "nonsense"}, `unknown command "nonsense" for "extractor jobs"`},
		"an argument too many":        {[]string{"version", "x"}, `unknown command "x" for "extractor version"`},
		"an argument of a subcommand": {[]string{"jobs", "list", "x"}, `unknown command "x" for "extractor jobs list"`},
		"no such flag":                {[]string{"version", "--nonsense"}, "unknown flag: --nonsense"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			require.Equal(t, exitBadInput, run(t.Context(), tc.args, nil, &stdout, &stderr))
			require.Contains(t, stderr.String(), tc.want)
			require.Empty(t, stdout.String())
		})
	}
	for _, group := range [][]string{{}, {"jobs"}, {"ray"}, {"jobs", "--help"}} {
		var stdout, stderr bytes.Buffer
		require.Equal(t, exitOK, run(t.Context(), group, nil, &stdout, &stderr), "%v", group)
		require.Contains(t, stdout.String(), "Available Commands:")
	}
}
