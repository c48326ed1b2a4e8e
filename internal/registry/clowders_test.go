package registry_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/registry"
)

// before is the dataset of films as versions had it that did not tell their Clowder.
var before = registry.Dataset{ID: films.ID}

func TestTwoClowdersWithTheSameIdsShareNothing(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	clone := registry.Dataset{Clowder: "https://clone.example.org", ID: films.ID}
	require.NotEqual(t, films.Folder(), clone.Folder())
	one := s.register(t, "ft-one")
	two := s.register(t, "ft-two", in(clone))
	require.Equal(t, []int{1, 1}, []int{one.Version, two.Version})
	for of, want := range map[registry.Dataset]registry.Version{films: one, clone: two} {
		all, err := s.All(of)
		require.NoError(t, err)
		require.Equal(t, []registry.Version{want}, all)
		champion, err := s.Champion(of, "film-reviews")
		require.NoError(t, err)
		require.Equal(t, &want, champion)
		require.FileExists(t, filepath.Join(s.Model(want).Path(), "model.safetensors"))
	}
	require.NotEqual(t, s.Model(one), s.Model(two))
	_, err := s.Find(clone, "ft-one", everything)
	require.ErrorContains(t, err, "there is no model ft-one")
	_, err = s.Find(registry.Dataset{Clowder: clone.Clowder, ID: birds.ID}, "ft-one", everything)
	require.ErrorContains(t, err, "there is no model ft-one", "a Clowder that says yes to everything gets nothing of another Clowder")
	local, err := s.Find(registry.Dataset{ID: registry.Local}, "ft-one", everything)
	require.NoError(t, err)
	require.Equal(t, one, local, "on this machine all may be used")
}

func TestVersionsFromBeforeTheirClowderWasNotedGoOn(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	old := s.register(t, "ft-old", in(before))
	require.FileExists(t, filepath.Join(s.dir, films.ID, "film-reviews", "1", "version.json"))

	require.Equal(t, old, s.register(t, "ft-old"), "a run that was registered by the version before is not registered again")
	champion, err := s.Champion(films, "film-reviews")
	require.NoError(t, err)
	require.Equal(t, &old, champion)
	next := s.register(t, "ft-next")
	require.Equal(t, 2, next.Version, "no number is given twice")
	require.Equal(t, "film-reviews/1", next.Best, "it was compared with the champion of before")
	all, err := s.All(films)
	require.NoError(t, err)
	require.Equal(t, []registry.Version{old, next}, all)

	for _, ref := range []string{"film-reviews/1", "film-reviews@champion", "ft-old"} {
		for _, of := range []registry.Dataset{films, birds} {
			v, err := s.Find(of, ref, everything)
			require.NoError(t, err)
			require.Equal(t, old, v)
		}
	}
	_, err = s.Promote(films, "film-reviews", 2)
	require.NoError(t, err)
	requireChampion(t, s, 2)
	_, err = s.Promote(films, "film-reviews", 1)
	require.NoError(t, err)
	requireChampion(t, s, 1)
	require.Equal(t, []string{films.Folder()}, folders(s.Datasets()), "each is listed once")
}

func folders(datasets []registry.Dataset) []string {
	out := make([]string, len(datasets))
	for i, d := range datasets {
		out[i] = d.Folder()
	}
	return out
}

func TestARecordOfAJobLeadsToItsModel(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for _, v := range []registry.Version{s.register(t, "ft-old", in(before)), s.register(t, "ft-new"), s.register(t, "ft-here", in(registry.Dataset{}))} {
		doc, err := json.Marshal(v)
		require.NoError(t, err)
		var recorded registry.Version
		require.NoError(t, json.Unmarshal(doc, &recorded))
		require.Equal(t, s.Model(v), s.Model(recorded))
		require.DirExists(t, s.Model(recorded).Path())
	}
	require.Equal(t, filepath.Join(s.dir, films.ID, "films", "3", "model"),
		s.Model(registry.Version{Name: "films", Version: 3, DatasetID: films.ID}).Path(), "as records of the version before have it")
}

func TestTheFolderOfADataset(t *testing.T) {
	t.Parallel()
	uuid := "655fd7c3-e4b0-4a1b-82c3-d4e5f6071829"
	for id, want := range map[string]string{films.ID: `^[0-9a-f]{8}-` + films.ID + `$`, uuid: `^[0-9a-f]{8}-` + uuid + `$`} {
		d := registry.Dataset{Clowder: films.Clowder, ID: id}
		require.Regexp(t, want, d.Folder())
		require.Equal(t, id, registry.Dataset{ID: id}.Folder())
	}
	require.Equal(t, "e14f3155-"+films.ID, films.Folder(), "it is the same in all versions of this program")
	s := newShelf(t)
	v, from := s.trained(t, "ft-one")
	v.DatasetID = "Not An Id"
	_, err := s.Register(t.Context(), v, from, first)
	require.ErrorContains(t, err, "cannot be the name of a folder")
	v.Clowder, v.DatasetID = "", films.Folder()
	_, err = s.Register(t.Context(), v, from, first)
	require.ErrorContains(t, err, "cannot be the name of a folder", "not even one of another Clowder")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind)
}

func TestWhatIdentifiesAVersionIsItsFolder(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for _, of := range []registry.Dataset{films, before} {
		one := s.register(t, "ft-"+of.Folder(), in(of))
		doc, err := os.ReadFile(s.file(one, "version.json"))
		require.NoError(t, err)
		var lie map[string]any
		require.NoError(t, json.Unmarshal(doc, &lie))
		lie["name"], lie["version"], lie["clowder"], lie["dataset_id"], lie["task"] = "../../etc", 99, "https://evil.example.org", "local", "a\nb"
		doc, err = json.Marshal(lie)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(s.file(one, "version.json"), doc, 0o600))
		got, err := s.Find(of, one.Ref(), nothing)
		require.NoError(t, err)
		require.Equal(t, "a b", got.Task)
		got.Task = one.Task
		require.Equal(t, one, got)
	}
}
