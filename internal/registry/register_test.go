package registry_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/registry"
)

func TestEveryRunIsOneVersion(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	one := s.register(t, "ft-one")
	require.Equal(t, "film-reviews/1", one.Ref())
	require.Equal(t, one, s.register(t, "ft-one"), "a run is registered once")
	two := s.register(t, "ft-two")
	require.Equal(t, 2, two.Version)
	versions, err := s.Versions(films, "film-reviews")
	require.NoError(t, err)
	require.Equal(t, []registry.Version{one, two}, versions)
	body, err := os.ReadFile(filepath.Join(s.Model(two).Path(), "tokenizer", "vocab.txt"))
	require.NoError(t, err)
	require.Equal(t, "a\nb\n", string(body))
	require.NoError(t, os.RemoveAll(filepath.Join(s.volume, "runs")))
	require.FileExists(t, filepath.Join(s.Model(one).Path(), "model.safetensors"), "a version outlives its run")
	require.Equal(t, "local", registry.Local)
}

func TestAKillAnywhereLeavesOneVersionOfARun(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]func(t *testing.T, s *fixture, name string){
		"while the files are copied": func(t *testing.T, _ *fixture, name string) {
			t.Helper()
			require.NoError(t, os.MkdirAll(filepath.Join(name, ".ft-one", "model"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(name, ".ft-one", "model", "model.safetensors"), []byte("wei"), 0o600))
		},
		"before it takes its number": func(t *testing.T, s *fixture, name string) {
			t.Helper()
			s.register(t, "ft-one")
			require.NoError(t, os.Rename(filepath.Join(name, "1"), filepath.Join(name, ".ft-one")))
			require.NoError(t, os.Remove(filepath.Join(name, "champion.json")))
		},
		"before the champion is named": func(t *testing.T, s *fixture, name string) {
			t.Helper()
			s.register(t, "ft-one")
			require.NoError(t, os.Remove(filepath.Join(name, "champion.json")))
		},
		"after everything": func(t *testing.T, s *fixture, _ string) {
			t.Helper()
			s.register(t, "ft-one")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t)
			folder := filepath.Join(s.dir, films.Folder(), "film-reviews")
			kill(t, s, folder)
			v := s.register(t, "ft-one")
			require.Equal(t, 1, v.Version)
			champion, err := s.Champion(films, v.Name)
			require.NoError(t, err)
			require.Equal(t, &v, champion)
			entries, err := os.ReadDir(folder)
			require.NoError(t, err)
			require.Len(t, entries, 2, "one version, its title, and nothing left over")
		})
	}
}

func TestRunsThatRegisterAtTheSameTimeGetNumbersOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	const runs = 12
	got := make([]int, runs)
	var wg sync.WaitGroup
	for i := range runs {
		v, from := s.trained(t, "ft-"+strconv.Itoa(i))
		wg.Go(func() {
			made, err := s.Register(t.Context(), v, from, first)
			if err == nil {
				got[i] = made.Version
			}
		})
	}
	wg.Wait()
	slices.Sort(got)
	require.Equal(t, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, got)
}

func TestOfRunsThatEndTogetherTheBetterOneIsTheChampion(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	const runs = 12
	var wg sync.WaitGroup
	for i := range runs {
		v, from := s.trained(t, "ft-"+strconv.Itoa(i))
		v.Test = &registry.Score{Value: float64(i)}
		wg.Go(func() {
			_, err := s.Register(t.Context(), v, from, func(champion *registry.Version) (bool, string) {
				return champion == nil || v.Test.Value > champion.Test.Value, "by its score"
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	champion, err := s.Champion(films, "film-reviews")
	require.NoError(t, err)
	require.InDelta(t, runs-1, champion.Test.Value, 0)
}

func TestAModelThatIsNotWhatWasTrainedIsRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		alter func(t *testing.T, v *registry.Version, from disk.Folder)
		kind  job.Kind
		want  string
	}{
		"a file that changed": {func(t *testing.T, _ *registry.Version, from disk.Folder) {
			t.Helper()
			require.NoError(t, os.WriteFile(filepath.Join(from.Path(), "model.safetensors"), []byte("Weights of ft-one"), 0o600))
		}, job.KindRetryable, "differs from what the training wrote"},
		"a file that is gone": {func(t *testing.T, _ *registry.Version, from disk.Folder) {
			t.Helper()
			require.NoError(t, os.Remove(filepath.Join(from.Path(), "model.safetensors")))
		}, job.KindRetryable, "model.safetensors"},
		"a link that leads out": {func(t *testing.T, _ *registry.Version, from disk.Folder) {
			t.Helper()
			require.NoError(t, os.Remove(filepath.Join(from.Path(), "model.safetensors")))
			require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(from.Path(), "model.safetensors")))
		}, job.KindRetryable, "model.safetensors"},
		"a link to a file beside it": {func(t *testing.T, _ *registry.Version, from disk.Folder) {
			t.Helper()
			path := filepath.Join(from.Path(), "model.safetensors")
			require.NoError(t, os.Rename(path, path+".old"))
			require.NoError(t, os.Symlink("model.safetensors.old", path))
		}, job.KindRetryable, "model.safetensors is a link"},
		"a pipe without a writer": {func(t *testing.T, _ *registry.Version, from disk.Folder) {
			t.Helper()
			require.NoError(t, os.Remove(filepath.Join(from.Path(), "model.safetensors")))
			require.NoError(t, syscall.Mkfifo(filepath.Join(from.Path(), "model.safetensors"), 0o600))
		}, job.KindRetryable, "model.safetensors is a pipe"},
		"a link in the place of the model": {func(t *testing.T, _ *registry.Version, from disk.Folder) {
			t.Helper()
			require.NoError(t, os.Rename(from.Path(), from.Path()+".old"))
			require.NoError(t, os.Symlink("model.old", from.Path()))
		}, job.KindRetryable, "model is a link"},
		"a path that leads out": {func(_ *testing.T, v *registry.Version, _ disk.Folder) { v.Files[0].Path = "../../x" }, job.KindPermanent, "is outside of its folder"},
		"a dataset that does":   {func(_ *testing.T, v *registry.Version, _ disk.Folder) { v.DatasetID = "../x" }, job.KindPermanent, "cannot be the name of a folder"},
		"a run that does":       {func(_ *testing.T, v *registry.Version, _ disk.Folder) { v.Run = "x/y" }, job.KindPermanent, "cannot be the name of a folder"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t)
			v, from := s.trained(t, "ft-one")
			tc.alter(t, &v, from)
			_, err := s.Register(t.Context(), v, from, first)
			require.ErrorContains(t, err, tc.want)
			require.NotContains(t, err.Error(), s.volume)
			kind, _ := job.Classify(err)
			require.Equal(t, tc.kind, kind)
			all, err := s.All(films)
			require.NoError(t, err)
			require.Empty(t, all, "nothing is registered")
		})
	}
}

func TestTheChampionIsWhoWonOrWhoAPersonChose(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	none, err := s.Champion(films, "film-reviews")
	require.NoError(t, err)
	require.Nil(t, none)
	one := s.register(t, "ft-one")
	require.True(t, one.Won())
	require.Equal(t, "it is the first", one.Why)
	two := s.register(t, "ft-two")
	require.False(t, two.Won())
	require.Equal(t, one.Ref(), two.Best)
	v, from := s.trained(t, "ft-three")
	three, err := s.Register(t.Context(), v, from, always)
	require.NoError(t, err)
	requireChampion(t, s, three.Version)

	_, err = s.Promote(films, "film-reviews", 2)
	require.NoError(t, err)
	requireChampion(t, s, 2)
	_, err = s.Promote(films, "film-reviews", 9)
	require.ErrorContains(t, err, "there is no version film-reviews/9")
	_, err = s.Promote(registry.Dataset{ID: "../.."}, "etc", 1)
	require.ErrorContains(t, err, "there is no version")
	requireChampion(t, s, 2)
}

func requireChampion(t *testing.T, s *fixture, number int) {
	t.Helper()
	champion, err := s.Champion(films, "film-reviews")
	require.NoError(t, err)
	require.Equal(t, number, champion.Version)
}
