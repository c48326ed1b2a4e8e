package job_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
)

const canary = "canary-key"

// stateKey is a state key of 32 equal bytes.
func stateKey(b byte) string { return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, 32)) }

func keyring(tb testing.TB, text string) *job.Keyring {
	tb.Helper()
	k, err := job.ParseKeyring(job.Secret(text))
	require.NoError(tb, err)
	return k
}

func TestSealedStoreKeepsThePromisesOfAStore(t *testing.T) {
	t.Parallel()
	jobtest.TestStore(t, func(t *testing.T) func() job.Store {
		t.Helper()
		path := filepath.Join(t.TempDir(), "jobs.db")
		return func() job.Store { return openStore(t, path, job.WithKeys(keyring(t, stateKey(1)))) }
	})
}

func TestSealedKeysAreNotInTheFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jobs.db")
	s := openStore(t, path, job.WithKeys(keyring(t, stateKey(1))))
	accept(t, s, "ft-one")
	requireAbsent(t, path, "sealed from the beginning")
}

func TestAStoreInClearIsSealedWhenAStateKeyComes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jobs.db")
	open := openStore(t, path)
	for i := range 50 {
		accept(t, open, fmt.Sprintf("ft-%d", i))
	}
	before, err := open.Get(t.Context(), "ft-7")
	require.NoError(t, err)
	require.NoError(t, open.Close())

	sealed := openStore(t, path, job.WithKeys(keyring(t, stateKey(1))))
	require.NoError(t, sealed.Reseal(t.Context()))
	after, err := sealed.Get(t.Context(), "ft-7")
	require.NoError(t, err)
	require.Equal(t, before, after, "to everybody who has the key nothing has changed")
	requireAbsent(t, path, "the keys in clear are overwritten, in the log too")
}

func TestStateKeysAreReplaced(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jobs.db")
	old, both, fresh := keyring(t, stateKey(1)), keyring(t, stateKey(2)+"\n"+stateKey(1)+"\n"), keyring(t, stateKey(2))
	s := openStore(t, path, job.WithKeys(old))
	accept(t, s, "ft-one")
	require.NoError(t, s.Close())

	for name, keys := range map[string]*job.Keyring{"another key": fresh, "no key": nil} {
		_, err := job.OpenSQLite(t.Context(), path, job.WithKeys(keys))
		require.ErrorContains(t, err, "STATE_KEY", name)
		kind, _ := job.Classify(err)
		require.Equal(t, job.KindPermanent, kind, name)
		require.NotContains(t, err.Error(), stateKey(1))
	}
	for _, keys := range []*job.Keyring{old, both, fresh} { // each time the store is opened with the ring of the next step
		s := openStore(t, path, job.WithKeys(keys))
		require.NoError(t, s.Reseal(t.Context()))
		rec, err := s.Get(t.Context(), "ft-one")
		require.NoError(t, err)
		require.Equal(t, canary, rec.SecretKey.Reveal())
		require.NoError(t, s.Close())
	}
}

func TestAnotherProcessLeavesTheSealsAsTheyAre(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jobs.db")
	service := openStore(t, path) // was started without a state key
	accept(t, service, "ft-one")
	command := openStore(t, path, job.WithKeys(keyring(t, stateKey(1))))
	_, err := command.Change(t.Context(), "ft-one", func(r *job.Record) error { return r.Cancel("the operator") })
	require.NoError(t, err)
	rec, err := service.Get(t.Context(), "ft-one")
	require.NoError(t, err)
	require.Equal(t, canary, rec.SecretKey.Reveal())
}

func TestAStateKeyThatIsNoneIsRefusedWithoutRepeatingIt(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"too short": base64.StdEncoding.EncodeToString([]byte("short")), "no base64": "hunter2!", "a good one and a bad one": stateKey(1) + ",hunter2!",
	} {
		_, err := job.ParseKeyring(job.Secret(text))
		require.ErrorContains(t, err, "openssl rand -base64 32", name)
		require.NotContains(t, err.Error(), "hunter2", name)
	}
	k, err := job.ParseKeyring(" \n")
	require.NoError(t, err)
	require.Nil(t, k)
}

func TestErasedKeysAreNotLeftInTheFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jobs.db")
	s := openStore(t, path)
	accept(t, s, "ft-one")
	_, err := s.Change(t.Context(), "ft-one", func(r *job.Record) error { r.End(job.Done, "x"); return r.Close() })
	require.NoError(t, err)
	n, err := s.Forget(t.Context(), time.Now().Add(-time.Hour))
	require.NoError(t, err)
	require.Zero(t, n)
	requireAbsent(t, path, "erased at the end of the job")
}

func TestTheOwnerIsTheSameForAllJobsOfAUser(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "jobs.db")
	s := openStore(t, path)
	accept(t, s, "ft-one")
	one, err := s.Change(t.Context(), "ft-one", func(r *job.Record) error { r.End(job.Done, "x"); return r.Close() })
	require.NoError(t, err)
	two := jobtest.Record("ft-two", "h2")
	require.NotEmpty(t, two.Owner)
	require.Equal(t, two.Owner, one.Owner, "it stays when the key is erased")
	other := job.New("ft-three", job.Train, two.Request, "another key")
	require.NotEqual(t, two.Owner, other.Owner)
	require.NotContains(t, two.Owner, canary)
}

func accept(tb testing.TB, s job.Store, run string) {
	tb.Helper()
	_, _, err := s.Accept(tb.Context(), jobtest.Record(run, "h1"))
	require.NoError(tb, err)
}

// requireAbsent looks for the key in the files of the store.
func requireAbsent(t *testing.T, path, why string) {
	t.Helper()
	files, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		body, err := os.ReadFile(f)
		require.NoError(t, err)
		require.False(t, bytes.Contains(body, []byte(canary)), "%s: the key is in %s", why, filepath.Base(f))
	}
}
