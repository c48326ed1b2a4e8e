package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
)

func TestOneServiceWorksOnAStateFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	release, err := lockStateDir(dir)
	require.NoError(t, err)
	_, err = lockStateDir(dir)
	require.ErrorContains(t, err, "STATE_DIR: another service uses "+dir)
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
	require.NoError(t, release())
	release, err = lockStateDir(dir)
	require.NoError(t, err, "the next one may")
	require.NoError(t, release())
}
