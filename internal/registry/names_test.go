package registry_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/registry"
)

func TestTheNameOfAModelIsMadeFromTheNameOfItsDataset(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 60)
	for name, want := range map[string]string{
		"Film reviews": "film-reviews", "film-reviews": "film-reviews", "  --A__B  v2.0--": "a-b-v2-0", "2026": "2026",
		"": "model", "鳥の写真": "model", "...": "model", "Größe": "gr-e", "Kelvin \u212a": "kelvin-k", "a\nb\x00c": "a-b-c", "../etc": "etc",
		long: long, long + "y": long, long[:59] + " y": long[:59], long[:58] + " yz": long[:58] + "-y", strings.Repeat("é", 100) + "a": "a",
	} {
		require.Equal(t, want, registry.Slug(name), "%q", name)
	}
}

// rewrite changes version.json as another program could.
func rewrite(t *testing.T, path string, change func(doc map[string]any)) {
	t.Helper()
	body, err := os.ReadFile(path)
	require.NoError(t, err)
	var doc map[string]any
	require.NoError(t, json.Unmarshal(body, &doc))
	change(doc)
	body, err = json.Marshal(doc)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, body, 0o600))
}

func TestADescriptionWithAFileThatNoModelHasIsUnreadable(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]map[string]any{
		"outside of its folder": {"path": "../../x", "size": 1},
		"from the root":         {"path": "/etc/passwd", "size": 1},
		"without a path":        {"path": "", "size": 1},
		"of less than no bytes": {"path": "model.safetensors", "size": -1},
		"of half a byte":        {"path": "model.safetensors", "size": 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShelf(t)
			v := s.register(t, "ft-one")
			rewrite(t, s.file(v, "version.json"), func(doc map[string]any) { doc["files"] = []any{file} })
			_, err := s.Find(films, "film-reviews/1", nothing)
			requireSentence(t, s, err, "version 1 of the model film-reviews cannot be read: ask the administrator, or enter another version")
			require.Equal(t, []string{s.file(v, "version.json")}, s.faults)
		})
	}
}

func TestADatasetOfTheListNamesItsClowderIfItsFolderAgrees(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	one := s.register(t, "ft-one")
	lie := s.register(t, "ft-two", in(birds))
	rewrite(t, s.file(lie, "version.json"), func(doc map[string]any) { doc["clowder"] = "https://evil.example.org" })
	here := s.register(t, "ft-here", in(registry.Dataset{}))
	var got []registry.Version
	for _, d := range s.Datasets() {
		require.Empty(t, d.Clowder, "a folder says only the mark of its Clowder")
		all, err := s.All(d)
		require.NoError(t, err)
		got = append(got, all...)
	}
	lie.Clowder = ""
	require.Equal(t, []registry.Version{one, lie, here}, got, "sorted by the ids of their datasets")
}

func TestTheReasonOfTheJudgeIsReadAsOneShortLine(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	v, from := s.trained(t, "ft-one")
	v.DatasetName = strings.Repeat("ü", 600)
	_, err := s.Register(t.Context(), v, from, func(*registry.Version) (bool, string) { return true, "better\n\x1b[31mby far" })
	require.NoError(t, err)
	got, err := s.Find(films, "", nothing)
	require.NoError(t, err)
	require.Equal(t, "better [31mby far", got.Why)
	require.Len(t, []rune(got.DatasetName), 500)
}

func TestADescriptionThatIsTooLargeIsNotRegistered(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	v, from := s.trained(t, "ft-one")
	v.Labels = make([]string, 300_000)
	for i := range v.Labels {
		v.Labels[i] = "a label of a species"
	}
	_, err := s.Register(t.Context(), v, from, first)
	require.ErrorContains(t, err, "register the model: the description of the model has ")
	require.ErrorContains(t, err, " bytes, the limit is 4194304: use fewer or shorter labels")
	kind, _ := job.Classify(err)
	require.Equal(t, job.KindPermanent, kind, "the next attempt has as many labels")
	all, err := s.All(films)
	require.NoError(t, err)
	require.Empty(t, all)
	champion, err := s.Champion(films, "film-reviews")
	require.NoError(t, err)
	require.Nil(t, champion)
}

func TestAModelOfManyDatasetsIsChosenByItsRun(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	ids := []string{"a", "b", "c", "d", "e", "f", "0", "1", "2", "3", "4", "5"}
	for _, id := range ids {
		of := registry.Dataset{Clowder: films.Clowder, ID: strings.Repeat(id, 24)}
		s.register(t, "ft-"+id, in(of), func(v *registry.Version) { v.DatasetName = "data " + id })
	}
	_, err := s.Find(films, "film-reviews", everything)
	require.ErrorContains(t, err, "12 datasets have a model film-reviews: enter the id of the run instead, ft-0 (dataset data 0), ft-1 ")
	require.Equal(t, 10, strings.Count(err.Error(), "(dataset "), "an error is short")
	asked := map[string]int{}
	v, err := s.Find(films, "ft-e", func(dataset string) (bool, error) { asked[dataset]++; return true, nil })
	require.NoError(t, err)
	require.Equal(t, "data e", v.DatasetName)
	require.Equal(t, map[string]int{strings.Repeat("e", 24): 1}, asked, "Clowder is asked only about a dataset that has the model")
}

func TestAPlantedFolderOfAnotherUserIsNoDataset(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	one := s.register(t, "ft-one")
	require.NoError(t, os.Symlink(films.Folder(), filepath.Join(s.dir, birds.Folder())))
	require.NoError(t, os.WriteFile(filepath.Join(s.dir, strings.Repeat("a", 24)), nil, 0o600))
	require.Equal(t, []string{one.Folder()}, folders(s.Datasets()))
	_, err := s.Find(birds, "film-reviews", everything)
	require.ErrorIs(t, err, registry.ErrUnreadable, "a link does not make the models of another dataset one's own")
}
