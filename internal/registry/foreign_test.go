package registry_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/registry"
)

func TestForeignEntriesAreNeitherListedNorTouched(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	one := s.register(t, "ft-one")
	name := filepath.Join(films.Folder(), "film-reviews")
	foreign := []string{
		"lost+found/x", "README.txt", ".snapshot/films/1/version.json", "a folder/films/1/version.json",
		filepath.Join(films.Folder(), "Film Reviews", "1", "version.json"), filepath.Join(films.Folder(), ".hidden", "1", "version.json"),
		filepath.Join(name, ".ft-dead", "model", "x"), filepath.Join(name, "01", "version.json"), filepath.Join(name, "0", "version.json"),
		filepath.Join(name, "-1", "version.json"), filepath.Join(name, "1e3", "version.json"), filepath.Join(name, "1000000000", "version.json"),
	}
	for _, path := range foreign {
		path = filepath.Join(s.dir, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(`{"run":"ft-foreign"}`), 0o600))
	}
	all, err := s.All(films)
	require.NoError(t, err)
	require.Equal(t, []registry.Version{one}, all)
	require.Equal(t, []string{films.Folder()}, folders(s.Datasets()))
	require.Equal(t, 2, s.register(t, "ft-two").Version)
	_, err = s.Find(birds, "ft-foreign", everything)
	require.ErrorContains(t, err, "there is no model ft-foreign")
	for _, path := range foreign {
		require.FileExists(t, filepath.Join(s.dir, path))
	}
	require.Empty(t, s.faults, "nothing of it is a fault of the registry")
}

func TestAVersionThatIsStillBeingWrittenIsNotFound(t *testing.T) {
	t.Parallel()
	for name, remove := range map[string]string{"without its description": "version.json", "without its run": "run", "without its model": "model"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t)
			one := s.register(t, "ft-one")
			folder := filepath.Dir(s.Model(one).Path())
			require.NoError(t, os.RemoveAll(filepath.Join(folder, remove)))
			require.NoError(t, os.Rename(folder, filepath.Join(filepath.Dir(folder), ".ft-one")))
			all, err := s.All(films)
			require.NoError(t, err)
			require.Empty(t, all)
			champion, err := s.Champion(films, one.Name)
			require.NoError(t, err)
			require.Nil(t, champion, "champion.json names a version that is not there")
			require.Equal(t, 1, s.register(t, "ft-one").Version, "the run can be registered")
		})
	}
}

func TestAChampionThatAnOperatorRemovedIsReplacedByTheNextWinner(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	one := s.register(t, "ft-one")
	require.NoError(t, os.RemoveAll(filepath.Dir(s.Model(one).Path())))
	champion, err := s.Champion(films, one.Name)
	require.NoError(t, err)
	require.Nil(t, champion)
	two := s.register(t, "ft-two")
	require.True(t, two.Won())
	requireChampion(t, s, two.Version)
}

func TestARepeatedRegistrationDoesNotTakeTheTitleBack(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	one := s.register(t, "ft-one")
	v, from := s.trained(t, "ft-two")
	two, err := s.Register(t.Context(), v, from, always)
	require.NoError(t, err)
	require.Equal(t, one, s.register(t, "ft-one"), "after a kill the first run registers itself again")
	requireChampion(t, s, two.Version)
}

func TestPromotionsAtTheSameTimeLeaveOneReadableChampion(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.register(t, "ft-one")
	s.register(t, "ft-two")
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			if _, err := s.Promote(films, "film-reviews", 1+n%2); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() {
			if champion, err := s.Champion(films, "film-reviews"); err != nil || champion == nil {
				t.Error(champion, err)
			}
		})
	}
	all.Wait()
	entries, err := os.ReadDir(filepath.Join(s.dir, films.Folder(), "film-reviews"))
	require.NoError(t, err)
	require.Len(t, entries, 3, "two versions and the champion, and no half-written file")
}

func TestAModelOfACancelledRunIsNotRegistered(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	v, from := s.trained(t, "ft-one")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Register(ctx, v, from, first)
	require.ErrorIs(t, err, context.Canceled)
	entries, err := os.ReadDir(filepath.Join(s.dir, films.Folder(), "film-reviews"))
	require.NoError(t, err)
	require.Empty(t, entries, "the copied files are removed")
	require.Equal(t, 1, s.register(t, "ft-one").Version)
}

func TestVersionsAreSortedByTheirTimeAndThenByTheirNumber(t *testing.T) {
	t.Parallel()
	at := func(seconds int64, version int) registry.Version {
		return registry.Version{Created: time.Unix(seconds, 0), Version: version}
	}
	versions := []registry.Version{at(3, 1), at(1, 2), at(1, 1), at(2, 7)}
	registry.ByAge(versions)
	require.Equal(t, []registry.Version{at(1, 1), at(1, 2), at(2, 7), at(3, 1)}, versions)
}

func TestAPipeInThePlaceOfTheRunFileDoesNotBlock(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	one := s.register(t, "ft-one")
	require.NoError(t, os.Remove(s.file(one, "run")))
	require.NoError(t, syscall.Mkfifo(s.file(one, "run"), 0o600))
	require.NoError(t, os.WriteFile(s.file(one, "version.json"), []byte("{"), 0o600))
	v, from := s.trained(t, "ft-one")
	_, err := s.Register(t.Context(), v, from, first)
	require.ErrorIs(t, err, registry.ErrUnreadable, "the files of the model show whose version it is")
}
