package browser_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/test/browser"
)

func TestTheProgramThatCHROMENamesIsTheFirst(t *testing.T) {
	named := filepath.Join(t.TempDir(), "mine")
	require.NoError(t, os.WriteFile(named, []byte("#!/bin/sh\n"), 0o700))
	t.Setenv("CHROME", named)
	found, err := browser.Find()
	require.NoError(t, err)
	require.Equal(t, named, found)
}

func TestABrowserThatDoesNotStartIsNamed(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "broken")
	require.NoError(t, os.WriteFile(broken, []byte("#!/bin/sh\nexit 1\n"), 0o700))
	t.Setenv("CHROME", broken)
	_, _, err := browser.Start(t.Context())
	require.ErrorContains(t, err, "start "+broken+": ")
}
