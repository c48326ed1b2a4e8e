package registry_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/registry"
)

// damages are what can become of a file.
var damages = map[string]func(path string) error{
	"it is torn":       func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) },
	"it is empty":      func(path string) error { return os.WriteFile(path, nil, 0o600) },
	"it is no version": func(path string) error { return os.WriteFile(path, []byte(`{"run":"../x"}`), 0o600) },
	"it is endless":    func(path string) error { return os.Truncate(path, 1<<40) }, // sparse: it takes no room
	"it is a link": func(path string) error {
		return errors.Join(os.Rename(path, path+".old"), os.Symlink(filepath.Base(path)+".old", path))
	},
	"it is a pipe without a writer": func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)) },
	"it is a folder":                func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
}

// requireSentence checks an error that a user reads: what to do, no path, no other dataset.
func requireSentence(t *testing.T, s *fixture, err error, want string) {
	t.Helper()
	require.EqualError(t, err, want)
	require.ErrorIs(t, err, registry.ErrUnreadable)
	require.NotContains(t, err.Error(), s.volume)
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
}

func TestAVersionThatCannotBeReadCostsItselfOnly(t *testing.T) {
	t.Parallel()
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t)
			one, two, three := s.register(t, "ft-1"), s.register(t, "ft-22"), s.register(t, "ft-333")
			s.register(t, "ft-4444", in(birds))
			require.NoError(t, damage(s.file(three, "version.json")))

			all, err := s.All(films)
			require.NoError(t, err)
			require.Equal(t, []registry.Version{one, two}, all)
			for ref, want := range map[string]string{"": "ft-22", "film-reviews": "ft-22", "film-reviews/1": "ft-1", "film-reviews@champion": "ft-1", "ft-22": "ft-22"} {
				v, err := s.Find(films, ref, nothing)
				require.NoError(t, err, ref)
				require.Equal(t, want, v.Run, ref)
			}
			v, err := s.Find(birds, "ft-22", everything)
			require.NoError(t, err)
			require.Equal(t, two, v, "from another dataset")

			const sentence = "version 3 of the model film-reviews cannot be read: ask the administrator, or enter another version"
			for _, readable := range []func(string) (bool, error){everything, nothing} {
				_, err = s.Find(films, "film-reviews/3", readable)
				requireSentence(t, s, err, sentence)
			}
			_, err = s.Promote(films, "film-reviews", 3)
			requireSentence(t, s, err, sentence)
			_, err = s.Find(birds, "film-reviews/3", everything)
			requireSentence(t, s, err, sentence)
			_, err = s.Find(birds, "film-reviews/3", nothing)
			require.EqualError(t, err, "there is no model film-reviews/3: this dataset has film-reviews/1", "who may not read it hears nothing of it")

			require.Equal(t, 4, s.register(t, "ft-55555").Version, "a number is never given twice")
			require.Equal(t, []string{s.file(three, "version.json")}, s.faults, "it is reported once")
		})
	}
}

func TestAnEntryThatIsNoVersionCostsItselfOnly(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(path string) error{
		"an empty folder":        func(path string) error { return os.Mkdir(path, 0o700) },
		"a link to a version":    func(path string) error { return os.Symlink("1", path) },
		"a link out":             func(path string) error { return os.Symlink("/etc", path) },
		"a link to nothing":      func(path string) error { return os.Symlink("nothing", path) },
		"a file":                 func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"a pipe":                 func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a folder without reach": func(path string) error { return os.Mkdir(path, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t)
			one := s.register(t, "ft-one")
			require.NoError(t, plant(filepath.Join(s.dir, films.Folder(), one.Name, "2")))
			all, err := s.All(films)
			require.NoError(t, err)
			require.Equal(t, []registry.Version{one}, all)
			_, err = s.Find(films, "film-reviews/2", nothing)
			requireSentence(t, s, err, "version 2 of the model film-reviews cannot be read: ask the administrator, or enter another version")
			require.Equal(t, 3, s.register(t, "ft-three").Version)
		})
	}
}

func TestADatasetThatCannotBeListedCostsItselfOnly(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(path string) error{
		"a link out": func(path string) error { return os.Symlink("/etc", path) },
		"a pipe":     func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t)
			one := s.register(t, "ft-one")
			require.NoError(t, plant(filepath.Join(s.dir, birds.Folder())))
			v, err := s.Find(films, "ft-one", everything)
			require.NoError(t, err)
			require.Equal(t, one, v)
			_, err = s.Find(films, "stars", everything)
			require.EqualError(t, err, "there is no model stars: this dataset has film-reviews/1")
			_, err = s.Find(birds, "", everything)
			requireSentence(t, s, err, "the list of this dataset's models cannot be read: ask the administrator")
			made, from := s.trained(t, "ft-two")
			in(birds)(&made)
			_, err = s.Register(t.Context(), made, from, first)
			require.ErrorIs(t, err, registry.ErrUnreadable, "and nothing is written through it")
		})
	}
}

func TestNamesOfOtherDatasetsThatCannotBeListedAreNotTold(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.register(t, "ft-one")
	v := s.register(t, "ft-two", in(birds))
	require.NoError(t, os.RemoveAll(filepath.Join(s.dir, birds.Folder(), v.Name)))
	require.NoError(t, os.Symlink("/etc", filepath.Join(s.dir, birds.Folder(), v.Name)))
	other := registry.Dataset{Clowder: films.Clowder, ID: strings.Repeat("a", 24)}
	got, err := s.Find(other, "film-reviews", everything)
	require.NoError(t, err)
	require.Equal(t, "ft-one", got.Run)
	_, err = s.Find(other, "film-reviews", nothing)
	require.EqualError(t, err, "there is no model film-reviews: this dataset has no models, and no dataset that you can read has one with this name")
}

func TestAChampionThatCannotBeReadIsAskedForInVain(t *testing.T) {
	t.Parallel()
	for name, damage := range damages {
		for _, file := range []string{"champion.json", "version.json"} {
			t.Run(file+": "+name, func(t *testing.T) {
				t.Parallel()
				s := newShelf(t)
				one := s.register(t, "ft-one")
				path := map[string]string{"version.json": s.file(one, file), "champion.json": filepath.Join(filepath.Dir(filepath.Dir(s.Model(one).Path())), file)}[file]
				require.NoError(t, damage(path))
				_, err := s.Champion(films, "film-reviews")
				requireSentence(t, s, err, "the champion of the model film-reviews cannot be read: ask the administrator, or enter a version")

				v, from := s.trained(t, "ft-two")
				v, err = s.Register(t.Context(), v, from, func(champion *registry.Version) (bool, string) {
					require.False(t, champion.Known())
					return false, "the present one cannot be read"
				})
				require.NoError(t, err)
				require.Equal(t, 2, v.Version)
				require.False(t, v.Won())
				if name == "it is a folder" && file == "champion.json" {
					return // a person has to remove that
				}
				_, err = s.Promote(films, "film-reviews", 2)
				require.NoError(t, err)
				requireChampion(t, s, 2)
			})
		}
	}
}

func TestARunWhoseVersionCannotBeReadIsNotRegisteredTwice(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		damage func(t *testing.T, s *fixture, v registry.Version)
		again  bool // another run that came to the same weights
	}{
		"its second witness is there": {damage: func(t *testing.T, _ *fixture, _ registry.Version) { t.Helper() }, again: true},
		"it is of the version before, which had none": {damage: func(t *testing.T, s *fixture, v registry.Version) {
			t.Helper()
			require.NoError(t, os.Remove(s.file(v, "run")))
		}},
		"its second witness is damaged, too": {damage: func(t *testing.T, s *fixture, v registry.Version) {
			t.Helper()
			require.NoError(t, os.Truncate(s.file(v, "run"), 0))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t)
			one := s.register(t, "ft-one")
			require.NoError(t, os.WriteFile(s.file(one, "version.json"), []byte("{"), 0o600))
			tc.damage(t, s, one)
			v, from := s.trained(t, "ft-one")
			_, err := s.Register(t.Context(), v, from, func(*registry.Version) (bool, string) { panic("not reached") })
			requireSentence(t, s, err, "version 1 of the model film-reviews, which this run made, cannot be read: ask the administrator")
			require.Equal(t, 2, s.register(t, "ft-two").Version, "other runs go on")
			if tc.again {
				v.Run = "ft-again"
				v, err = s.Register(t.Context(), v, from, first)
				require.NoError(t, err)
				require.Equal(t, 3, v.Version)
			}
		})
	}
}

func TestNothingIsWrittenThroughALink(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	out := t.TempDir()
	for _, path := range []string{"registry", "registry/" + films.Folder(), "registry/" + films.Folder() + "/film-reviews"} {
		path = filepath.Join(s.volume, path)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.Symlink(out, path))
		v, from := s.trained(t, "ft-one")
		_, err := s.Register(t.Context(), v, from, first)
		require.Error(t, err)
		require.NotContains(t, err.Error(), s.volume)
		require.NoError(t, os.Remove(path))
	}
	hidden := filepath.Join(s.dir, films.Folder(), "film-reviews", ".ft-one")
	require.NoError(t, os.MkdirAll(filepath.Dir(hidden), 0o700))
	require.NoError(t, os.Symlink(out, hidden))
	s.register(t, "ft-one") // what a pod put in the place of the hidden folder is removed
	entries, err := os.ReadDir(out)
	require.NoError(t, err)
	require.Empty(t, entries)
	_, err = os.Lstat(hidden)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func FuzzVersion(f *testing.F) {
	f.Add([]byte(`{"schema":1,"name":"films","version":1,"run":"ft-1","files":[{"path":"model.safetensors","size":1}]}`), []byte(`{"version":1}`))
	f.Add([]byte(`{"run":"ft-1","files":[{"path":"../../x"}],"task":"\u0000\n"}`), []byte(`{"version":-1}`))
	f.Add([]byte(`{"run":"../x","name":"/etc","clowder":"https://clowder.example.org"}`), []byte(`[]`))
	f.Add([]byte(`null`), []byte(`{"version":99999999999999999999}`))
	f.Fuzz(func(t *testing.T, version, champion []byte) {
		s := newShelf(t)
		for _, of := range []registry.Dataset{films, before} {
			dir := filepath.Join(s.dir, of.Folder(), "stars", "1")
			require.NoError(t, os.MkdirAll(dir, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "version.json"), version, 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(dir), "champion.json"), champion, 0o600))
		}
		all, err := s.All(films)
		require.NoError(t, err)
		best, err := s.Champion(films, "stars")
		if err == nil && best != nil {
			all = append(all, *best)
		}
		for _, v := range all {
			require.Equal(t, []any{"stars", 1, films.Clowder, films.ID}, []any{v.Name, v.Version, v.Clowder, v.DatasetID})
			require.Equal(t, v.Name, registry.Slug(v.Name))
			require.Regexp(t, `^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`, v.Run)
			rel, err := filepath.Rel(s.dir, s.Model(v).Path())
			require.NoError(t, err)
			require.True(t, filepath.IsLocal(rel), rel)
			for _, file := range v.Files {
				require.True(t, filepath.IsLocal(file.Path))
				require.GreaterOrEqual(t, file.Size, int64(0))
			}
			for _, text := range []string{v.DatasetName, v.Task, v.Kind, v.Base, v.Metric, v.Best, v.Why} {
				require.LessOrEqual(t, len([]rune(text)), 500)
				require.NotContains(t, text, "\n")
			}
		}
	})
}
