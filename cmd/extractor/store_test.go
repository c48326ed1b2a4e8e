package main

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

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
		set, err := readEnv(append(env, state)...)
		require.NoError(t, err)
		return openStore(t.Context(), set)
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

func TestADamagedRecordIsListedWithWhatToDoAndLoggedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	set, err := readEnv("STATE_DIR=" + filepath.Join(dir, "state"))
	require.NoError(t, err)
	s, err := openStore(t.Context(), set)
	require.NoError(t, err)
	for _, run := range []string{"ft-good", "ft-bad"} {
		_, _, err = s.Accept(t.Context(), jobtest.Record(run, "h1"))
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())
	doc, err := os.ReadFile(set.StorePath())
	require.NoError(t, err)
	doc = bytes.Replace(doc, []byte(`{"run":"ft-bad"`), []byte(`{"run";"ft-bad"`), 1)
	require.NoError(t, os.WriteFile(set.StorePath(), doc, 0o600))

	code, stdout, stderr := execute(t, dir, "jobs", "list")
	require.Zero(t, code, stderr)
	require.Regexp(t, `(?m)^ft-good .* accepted `, stdout)
	require.Regexp(t, `(?m)^ft-bad +damaged +restore the job store from a backup, or submit the dataset again$`, stdout)
	for _, command := range []string{"show", "cancel", "retry"} {
		code, _, stderr = execute(t, dir, "jobs", command, "ft-bad")
		require.NotZero(t, code)
		require.Contains(t, stderr, "the record of this job is damaged")
		require.Contains(t, stderr, "restore the job store from a backup")
	}

	core, logged := observer.New(zap.InfoLevel)
	reg := prometheus.NewRegistry()
	s, err = openForService(t.Context(), set, reg, zap.New(core))
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	for range 3 {
		recs, err := s.List(t.Context(), job.Query{})
		require.NoError(t, err)
		require.Len(t, recs, 1)
	}
	require.Equal(t, 1, logged.Len(), "once, and not at each look")
	require.Contains(t, logged.All()[0].Message, "restore the job store from a backup")
	metrics, err := reg.Gather()
	require.NoError(t, err)
	require.Equal(t, "clowder_ray_store_unreadable_records", metrics[0].GetName())
	require.InDelta(t, 1, metrics[0].GetMetric()[0].GetGauge().GetValue(), 0)
}
