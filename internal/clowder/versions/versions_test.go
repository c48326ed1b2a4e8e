package versions_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/versions"
)

// jobs is what a Clowder that shows jobs has.
type jobs interface {
	Job(ctx context.Context, id string) (clowder.Job, error)
	RecentJobs(ctx context.Context, extractor string) ([]clowder.Job, error)
}

// keeper is what a Clowder that keeps versions of files has.
type keeper interface {
	Versions(ctx context.Context, id string, most int) ([]clowder.Version, error)
}

// cards and previews are two ways to show a picture. Each Clowder has one of them.
type (
	cards interface {
		Visualizations(ctx context.Context, dataset string) ([]clowder.Visualization, error)
	}
	previews interface {
		Previews(ctx context.Context, file string) ([]clowder.Preview, error)
	}
)

func TestAVersionCanDoWhatItSays(t *testing.T) {
	t.Parallel()
	client, err := clowder.NewClient(clowder.Config{URL: "http://clowder.example.org"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	require.Equal(t, []int{1, 2}, versions.Numbers())
	for _, number := range versions.Numbers() {
		version := versions.Of(number)
		require.Equal(t, number, version.Number)
		session, err := version.At(client, "", "key")
		require.NoError(t, err)
		require.Equal(t, "http://clowder.example.org", session.Address())
		_, shows := session.(jobs)
		require.Equal(t, version.ShowsJobs, shows, "v%d", number)
		_, hasCards := session.(cards)
		_, hasPreviews := session.(previews)
		require.NotEqual(t, hasCards, hasPreviews, "v%d shows a picture in one place", number)
		_, keeps := session.(keeper)
		require.Equal(t, version.SubmitsFiles, keeps, "v%d: its versions tell what it submitted by itself", number)
		require.Equal(t, number == 2, version.Bearer != nil, "v%d", number)
		require.NotEmpty(t, versions.Abouts()[number])
	}
}

func TestRecordsWithoutANumberAreOfClowderV2(t *testing.T) {
	t.Parallel()
	for _, number := range []int{0, 2, 99, -1} {
		require.Equal(t, 2, versions.Of(number).Number)
	}
}

func TestAHostThatIsNotServedHasNoSession(t *testing.T) {
	t.Parallel()
	client, err := clowder.NewClient(clowder.Config{AllowedHosts: []string{"http://clowder.example.org"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	for _, number := range versions.Numbers() {
		session, err := versions.Of(number).At(client, "http://elsewhere.example.org", "key")
		require.ErrorContains(t, err, "does not serve")
		require.Nil(t, session)
	}
}
