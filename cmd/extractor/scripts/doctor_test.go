package scripts

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDoctorSaysWhatHoldsScripts(t *testing.T) {
	t.Parallel()
	// The interpreters of these tests answer as the trainer does; their only argument that counts is the last one.
	answers := func(json string) string {
		path := filepath.Join(t.TempDir(), "python")
		require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\necho '"+json+"'\n"), 0o700))
		return path
	}
	trusting := plain()
	trusting.Sandbox, trusting.TrustedUsers = "none", []string{"alice@example.org"}
	index := plain()
	index.Requirements = "index"
	for name, tc := range map[string]struct {
		set    Settings
		python string
		pods   bool
		want   string
		err    string
	}{
		"the first sandbox holds": {
			set: plain(), python: answers(`[{"name":"bubblewrap","version":"0.8.0","refused":null},{"name":"gvisor","version":"1","refused":"x"}]`),
			want: "bubblewrap 0.8.0 holds scripts on this machine; requirements.txt is not installed",
		},
		"only the second holds": {
			set: plain(), python: answers(`[{"name":"bubblewrap","version":"","refused":"It is missing."},{"name":"gvisor","version":"2026","refused":null}]`),
			want: "gvisor 2026 holds",
		},
		"none holds": {
			set: plain(), python: answers(`[{"name":"bubblewrap","version":"","refused":"It is missing."}]`),
			want: "WARNING: no sandbox holds scripts on this machine. If Ray runs here, scripts are refused: install bubblewrap (apt-get install bubblewrap). It is missing.",
		},
		"the trainer says something else": {set: plain(), python: answers("no JSON"), want: "try the sandboxes with python"},
		"there is no Python":              {set: plain(), python: filepath.Join(t.TempDir(), "none"), want: "no sandbox was tried"},
		"pods of their own":               {set: plain(), python: "none", pods: true, want: "each script has pods of its own"},
		"trusted users": {
			set: trusting, python: "none", pods: true,
			want: "WARNING: the code of 1 trusted user runs without a sandbox and may do everything that Ray may: alice@example.org",
		},
		"packages without uv": {set: index, python: filepath.Join(t.TempDir(), "none"), err: "SCRIPT_PYTHON"},
		"packages with uv":    {set: index, python: answers("uv 0.13.9 (linux)"), want: "requirements.txt is installed by uv 0.13.9 (index)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found, err := tc.set.Doctor(t.Context(), tc.python, tc.pods)
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err)
				return
			}
			require.NoError(t, err)
			require.Contains(t, found, tc.want)
		})
	}
}
