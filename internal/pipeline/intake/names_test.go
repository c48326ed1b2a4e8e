package intake

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder/connect"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/rayjob"
)

const (
	hostA, hostB = "https://a.example.org", "https://b.example.org"
	trains       = "ncsa.ray.finetune"
)

// namesBeside are names beside the store that they read.
type namesBeside struct {
	*Names

	store job.Store
}

// origins are requests of a Clowder that the operator has set, empty for none.
type origins struct{ configured string }

func (o origins) Origin(req job.Request) (configured, named string) {
	return o.configured, connect.Address(req.Host)
}

func newNames(t *testing.T, configured string) namesBeside {
	t.Helper()
	store := openStore(t)
	return namesBeside{NewNames(origins{configured}, store), store}
}

// openStore returns an empty store. The test may close it.
func openStore(t *testing.T) job.Store {
	t.Helper()
	store, err := job.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "jobs.db"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// from is the request of a job that has the same id in every Clowder.
func from(host string) job.Request {
	req := jobtest.Record("ft-one", "hash of "+host).Request
	req.Host = host
	return req
}

func TestJobsOfTwoClowdersWithTheSameIDAreTwoRuns(t *testing.T) {
	t.Parallel()
	b := newNames(t, "")
	names := map[string]bool{}
	for _, host := range []string{hostA, hostB} {
		for range 2 { // the broker may deliver it again
			name, err := b.Run(t.Context(), trains, from(host))
			require.NoError(t, err)
			rec, created, err := b.store.Accept(t.Context(), job.New(name, job.Train, from(host), "key"))
			require.NoError(t, err, "nobody's request is refused because of somebody else's")
			require.Equal(t, !names[name], created)
			require.Equal(t, host, rec.Request.Host)
			names[name] = true
		}
	}
	require.Len(t, names, 2)
	name, err := b.Run(t.Context(), trains, from("HTTPS://A.example.org:443/"))
	require.NoError(t, err)
	require.True(t, names[name], "another spelling is the same Clowder")
}

func TestAJobThatTheVersionBeforeTookInIsFoundAgain(t *testing.T) {
	t.Parallel()
	b := newNames(t, "")
	before := rayjob.RunName("", trains, from(hostA).Key)
	_, _, err := b.store.Accept(t.Context(), job.New(before, job.Train, from(hostA), "key"))
	require.NoError(t, err)
	for host, want := range map[string]string{
		hostA:                        before,
		"https://A.example.org:443/": before,
		hostB:                        rayjob.RunName(hostB, trains, from(hostB).Key),
	} {
		name, err := b.Run(t.Context(), trains, from(host))
		require.NoError(t, err)
		require.Equal(t, want, name, host)
	}
	require.NoError(t, b.store.Close())
	_, err = b.Run(t.Context(), trains, from(hostA))
	require.Error(t, err, "a question without an answer is no no: the broker keeps the message")
}

func TestWithOneClowderTheNameOfARunStaysWhatItWas(t *testing.T) {
	t.Parallel()
	b := newNames(t, "http://Backend:8000/")
	name, err := b.Run(t.Context(), trains, from(hostA))
	require.NoError(t, err)
	require.Equal(t, rayjob.RunName("http://Backend:8000/", trains, from(hostA).Key), name)
}
