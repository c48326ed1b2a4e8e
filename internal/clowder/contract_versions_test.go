package clowder_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clienttest"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/job"
)

// contractVersions reads a file and saves new versions of it.
func contractVersions(t *testing.T, client *clowder.Client, at site, ds string) {
	t.Helper()
	ctx := t.Context()
	byKey := client.As(job.Secret(at.key))
	const most = 1 << 20
	file, err := byKey.Upload(ctx, ds, "", text("finetune.yaml", "application/x-yaml", "epochs: 1\n"))
	require.NoError(t, err)
	first, err := byKey.FileState(ctx, file.ID)
	require.NoError(t, err)

	t.Run("describes a file and its first version", func(t *testing.T) {
		require.Equal(t, []any{file.ID, "finetune.yaml", ds, 1, "application/x-yaml", int64(10), "minio", false, true}, []any{
			first.ID, first.Name, first.DatasetID, first.Version, first.ContentType, first.Size, first.Stored, first.Frozen, first.KeepsVersions(),
		})
		require.NotEmpty(t, first.VersionID)
		require.WithinDuration(t, time.Now(), first.SavedAt, time.Minute)
		body, err := byKey.ReadFile(ctx, first.File, 0, most)
		require.NoError(t, err)
		require.Equal(t, "epochs: 1\n", string(body))
		_, err = byKey.ReadFile(ctx, first.File, 0, 9)
		require.ErrorIs(t, err, clowder.ErrFileTooLarge)
		_, err = byKey.ReadFile(ctx, first.File, 7, most)
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
		versions, err := byKey.Versions(ctx, file.ID, 20)
		require.NoError(t, err)
		require.Len(t, versions, 1)
		require.Equal(t, []any{1, first.VersionID, int64(10), first.Creator}, []any{versions[0].Number, versions[0].ID, versions[0].Size, versions[0].Creator})
	})
	t.Run("says what it cannot find and what is not an id", func(t *testing.T) {
		_, err := byKey.FileState(ctx, missingID)
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
		_, err = byKey.Versions(ctx, missingID, 20)
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)
		_, err = byKey.FileState(ctx, "../users")
		clienttest.RequireKind(t, err, job.KindPermanent, 0)
		_, err = byKey.Update(ctx, clowder.FileState{File: clowder.File{ID: "x/y", Name: "a"}}, nil)
		clienttest.RequireKind(t, err, job.KindPermanent, 0)
	})
	t.Run("takes no new version from an API key", func(t *testing.T) {
		_, err := byKey.Update(ctx, first, []byte("epochs: 2\n"))
		clienttest.RequireKind(t, err, job.KindPermanent, http.StatusForbidden)
	})
	t.Run("saves a new version for an access token", func(t *testing.T) {
		if at.token == "" {
			t.Skip("there is no access token")
		}
		contractUpdate(t, client.Bearer(job.Secret(at.token)), first)
	})
	require.NoError(t, byKey.DeleteFile(ctx, file.ID))
}

// contractUpdate saves versions one after the other, and two of them at once.
func contractUpdate(t *testing.T, s *clowder.Session, first clowder.FileState) {
	t.Helper()
	ctx := t.Context()
	const most = 1 << 20
	second, err := s.Update(ctx, first, []byte("epochs: 22\n"))
	require.NoError(t, err)
	require.Equal(t, []any{first.ID, 2, int64(11), false}, []any{second.ID, second.Version, second.Size, second.Frozen})
	require.NotEqual(t, first.VersionID, second.VersionID)
	again, err := s.FileState(ctx, first.ID)
	require.NoError(t, err)
	require.WithinDuration(t, again.SavedAt, second.SavedAt, time.Second)
	again.SavedAt = second.SavedAt
	require.Equal(t, again, second)
	for version, want := range map[int]string{0: "epochs: 22\n", 1: "epochs: 1\n", 2: "epochs: 22\n"} {
		body, err := s.ReadFile(ctx, second.File, version, most)
		require.NoError(t, err)
		require.Equal(t, want, string(body))
	}
	other := first
	other.Name = "other.yaml"
	_, err = s.Update(ctx, other, nil)
	clienttest.RequireKind(t, err, job.KindPermanent, http.StatusBadRequest)
	other = first
	other.ContentType = "text/plain"
	_, err = s.Update(ctx, other, nil)
	clienttest.RequireKind(t, err, job.KindPermanent, http.StatusBadRequest)
	gone := first
	gone.ID = missingID
	_, err = s.Update(ctx, gone, nil)
	clienttest.RequireKind(t, err, job.KindPermanent, http.StatusNotFound)

	var group sync.WaitGroup
	for _, content := range []string{"epochs: 3\n", "epochs: 4\n"} {
		group.Go(func() {
			_, err := s.Update(ctx, second, []byte(content))
			require.NoError(t, err, "Clowder compares no versions")
		})
	}
	group.Wait()
	versions, err := s.Versions(ctx, first.ID, 20)
	require.NoError(t, err)
	require.Len(t, versions, 4)
	numbers := make([]int, len(versions))
	for i, v := range versions {
		numbers[i] = v.Number
	}
	require.Contains(t, [][]int{{4, 3, 2, 1}, {3, 3, 2, 1}}, numbers, "the second update either follows the first or gets the same number")
	two, err := s.Versions(ctx, first.ID, 2)
	require.NoError(t, err)
	require.Equal(t, versions[:2], two)
}

// TestTwoUpdatesInTheSameInstantCollide shows what a real Clowder did in some races: two versions with one number.
func TestTwoUpdatesInTheSameInstantCollide(t *testing.T) {
	t.Parallel()
	for name, lastFirst := range map[string]bool{
		"the newest body is that of the newest row": false,
		"the newest body is that of the older row":  true,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startDouble(t, clowdertest.Options{})
			ctx := t.Context()
			ds := server.AddDataset("alice@example.org", "race")
			s := clienttest.New(t, clowder.Config{URL: server.URL}).Bearer(job.Secret(server.Token("alice@example.org")))
			file, err := s.Upload(ctx, ds, "", text("数据.yaml", "application/x-yaml", "x: 0\n"))
			require.NoError(t, err)
			first, err := s.FileState(ctx, file.ID)
			require.NoError(t, err)
			server.RaceUpdates(2, lastFirst)
			var group errgroup.Group
			var got [2]clowder.FileState
			for i, content := range []string{"x: 1\n", "x: 2\n"} {
				group.Go(func() (err error) {
					got[i], err = s.Update(ctx, first, []byte(content))
					return err
				})
			}
			require.NoError(t, group.Wait())
			require.Equal(t, []int{2, 2}, []int{got[0].Version, got[1].Version})
			require.NotEqual(t, got[0].VersionID, got[1].VersionID)
			versions, err := s.Versions(ctx, file.ID, 20)
			require.NoError(t, err)
			require.Equal(t, []int{2, 2, 1}, []int{versions[0].Number, versions[1].Number, versions[2].Number})
			state, err := s.FileState(ctx, file.ID)
			require.NoError(t, err)
			require.Equal(t, versions[0].ID, state.VersionID)
			newest, err := s.ReadFile(ctx, file, 0, 100)
			require.NoError(t, err)
			numbered, err := s.ReadFile(ctx, file, 2, 100)
			require.NoError(t, err)
			require.Equal(t, lastFirst, string(newest) == string(numbered), "Clowder returns the version whose row it stored first")
		})
	}
}
