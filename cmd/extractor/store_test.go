package main

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
)

func TestTheStoreIsSealedByTheStateKey(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	key := func(b byte) string { return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, 32)) }
	file := filepath.Join(dir, "state-keys")
	require.NoError(t, os.WriteFile(file, []byte(key(1)+"\n"), 0o600))
	state := "STATE_DIR=" + filepath.Join(dir, "state")
	open := func(env ...string) (*job.SQLite, error) {
		fs := pflag.NewFlagSet("t", pflag.ContinueOnError)
		addFlags(fs)
		set, err := readSettings(fs, append(env, state))
		require.NoError(t, err)
		return set.openStore(t.Context())
	}
	s, err := open("STATE_KEY_FILE=" + file)
	require.NoError(t, err)
	_, _, err = s.Accept(t.Context(), jobtest.Record("ft-one", "h1"))
	require.NoError(t, err)
	require.NoError(t, s.Close())

	for name, env := range map[string][]string{
		"no key": nil, "another key": {"STATE_KEY=" + key(2)}, "a bad key": {"STATE_KEY=hunter2"}, "no file": {"STATE_KEY_FILE=" + file + "-not-there"},
	} {
		_, err := open(env...)
		require.ErrorContains(t, err, "STATE_KEY", name)
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindPermanent, kind, name)
		require.NotContains(t, err.Error(), "hunter2")
	}
	s, err = open("STATE_KEY=" + key(2) + " " + key(1))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = open("STATE_KEY_FILE=" + file)
	require.ErrorContains(t, err, "contains no key")
}
