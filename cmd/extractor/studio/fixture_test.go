package studio

import (
	"context"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	clowderplatform "github.com/ncsa/clowder-ray/internal/platform/clowder"
	"github.com/ncsa/clowder-ray/internal/platform/platformtest"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

const alice = "alice@example.org"

// fixture is a service with a Clowder, without the parts that train.
type fixture struct {
	clowder *clowdertest.Server
	client  *clowder.Client
	parts   *Parts
	dataset string
}

// newFixture starts a Clowder of a version with a dataset of Alice.
func newFixture(t *testing.T, version int) *fixture {
	t.Helper()
	double, err := clowdertest.New(clowdertest.Options{Version: version, Dir: t.TempDir(), Users: []string{alice}})
	require.NoError(t, err)
	client, err := clowder.NewClient(clowder.Config{URL: double.URL, Version: version, Attempts: 1, AllowedHosts: []string{"https://other.example.org"}})
	require.NoError(t, err)
	store, err := job.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "jobs.db"))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, store.Close())
		require.NoError(t, client.Close())
		require.NoError(t, double.Close())
	})
	all := platformtest.Extractors(t)
	f := &fixture{clowder: double, client: client, dataset: double.AddDataset(alice, "Film reviews")}
	f.parts = &Parts{
		ClowderURL: double.URL, ClowderVersion: versions.Of(version), Clowder: client, Store: store, Volume: volume.Volume{Dir: t.TempDir()}, Extractors: all,
		Places: clowderplatform.New(client, all), Jobs: idle{}, Version: "1.2.3", Log: zap.NewNop(),
	}
	return f
}

// alice is a visitor with the key of Alice, as the login makes one.
func (f *fixture) alice(t *testing.T) *web.Visitor {
	t.Helper()
	key := job.Secret(f.clowder.Key(alice))
	session, err := f.parts.ClowderVersion.At(f.client, "", key)
	require.NoError(t, err)
	return &web.Visitor{Email: alice, Clowder: session}
}

// accept adds the record of a job about the dataset, after change. The records are as old as their order says.
func (f *fixture) accept(t *testing.T, run string, change func(*job.Record)) {
	t.Helper()
	rec := jobtest.Record(run, "h")
	rec.Request.DatasetID = f.dataset
	change(&rec)
	_, _, err := f.parts.Store.Accept(t.Context(), rec)
	require.NoError(t, err)
}

// register adds versions of a model of the dataset. The first one is the champion.
func (f *fixture) register(t *testing.T, name string, versions int) (made []registry.Version) {
	t.Helper()
	models := registry.New(f.parts.Volume.Registry())
	for i := range versions {
		v, err := models.Register(t.Context(), registry.Version{
			Name: name, Run: "ft-" + name + "-" + strconv.Itoa(i+1), Clowder: f.clowder.URL, DatasetID: f.dataset, Base: "words",
			Created: time.Unix(1e9, 0).UTC(),
		}, disk.Folder{Volume: t.TempDir()}, func(champion *registry.Version) (bool, string) { return champion == nil, "" })
		require.NoError(t, err)
		made = append(made, v)
	}
	return made
}

// idle is the Jobs of a service on which nothing runs.
type idle struct{}

func (idle) Cancel(context.Context, string, string) error { return nil }
func (idle) Stop(context.Context, string, string) error   { return nil }
func (idle) RunOf(string, string) string                  { return "" }
func (idle) LastStatus(string) string                     { return "" }
