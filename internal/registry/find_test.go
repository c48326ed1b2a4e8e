package registry_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/registry"
)

func everything(string) (bool, error) { return true, nil }

func nothing(string) (bool, error) { return false, nil }

func TestFind(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.register(t, "ft-1")
	s.register(t, "ft-22")
	s.register(t, "ft-333", func(v *registry.Version) { v.Name = "Stars" })
	s.register(t, "ft-4444", in(birds))
	for name, tc := range map[string]struct {
		dataset  registry.Dataset
		ref      string
		want     string
		readable func(string) (bool, error)
	}{
		"nothing is the newest of the dataset": {films, "", "ft-333", nothing},
		"a name is its newest version":         {films, "film-reviews", "ft-22", nothing},
		"a name as people write it":            {films, " Film reviews", "ft-22", nothing},
		"a version":                            {films, "film-reviews/1", "ft-1", nothing},
		"the champion":                         {films, "film-reviews@champion", "ft-1", nothing},
		"a run":                                {films, "ft-1", "ft-1", nothing},
		"the own dataset comes first":          {birds, "film-reviews", "ft-4444", everything},
		"a name of another dataset":            {birds, "stars/1", "ft-333", everything},
		"a run of another dataset":             {birds, "ft-22", "ft-22", everything},
		"a dataset without models":             {registry.Dataset{Clowder: films.Clowder, ID: "655fd7c3e4b0a1b2c3d4e5f8"}, "stars", "ft-333", everything},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := s.Find(tc.dataset, tc.ref, tc.readable)
			require.NoError(t, err)
			require.Equal(t, tc.want, got.Run)
		})
	}
}

func TestFindSaysWhatThereIs(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	s.register(t, "ft-1")
	s.register(t, "ft-22", in(birds))
	other := registry.Dataset{Clowder: films.Clowder, ID: "655fd7c3e4b0a1b2c3d4e5f8"}
	for name, tc := range map[string]struct {
		dataset  registry.Dataset
		ref      string
		want     string
		readable func(string) (bool, error)
	}{
		"no model at all":                {other, "", "this dataset has no model yet: train one first", everything},
		"a name without versions":        {films, "stars", "there is no model stars: this dataset has film-reviews/1", everything},
		"a version that is not there":    {films, "film-reviews/7", "there is no model film-reviews/7: this dataset has film-reviews/1", nothing},
		"a model that may not be read":   {other, "film-reviews", "there is no model film-reviews: this dataset has no models, and no dataset that you can read", nothing},
		"a name that two datasets have":  {other, "film-reviews", "2 datasets have a model film-reviews: enter the id of the run instead, ft-1 (dataset Film reviews) or ft-22", everything},
		"no champion":                    {films, "stars@champion", "there is no model stars@champion", everything},
		"an unknown alias":               {films, "stars@best", "is not a model: write a name", everything},
		"a way out of the registry":      {films, "../../etc/passwd", "is not a model", everything},
		"a name that is too long":        {films, strings.Repeat("x", 300), "is not a model", everything},
		"a run of a dataset that is not": {other, "ft-22", "there is no model ft-22", nothing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := s.Find(tc.dataset, tc.ref, tc.readable)
			require.ErrorContains(t, err, tc.want)
			kind, _ := job.Classify(err)
			require.Equal(t, job.KindPermanent, kind)
		})
	}
	down := errors.New("Clowder does not answer")
	_, err := s.Find(other, "film-reviews", func(string) (bool, error) { return false, down })
	require.ErrorIs(t, err, down, "an unanswered question is not a no")
}

func FuzzFind(f *testing.F) {
	for _, ref := range []string{"", "films", "films/3", "films@champion", "ft-abc", "../x", "a/b/c", "x@y", "é/1", "\x00"} {
		f.Add(films.ID, ref)
	}
	f.Fuzz(func(t *testing.T, dataset, text string) {
		s := registry.New(disk.Folder{Volume: t.TempDir(), Name: "registry"})
		_, err := s.Find(registry.Dataset{ID: dataset}, text, everything)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "\n")
		name := registry.Slug(text)
		require.Regexp(t, `^[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?$`, name)
		require.True(t, filepath.IsLocal(name))
		require.Equal(t, name, registry.Slug(name), "a slug is its own")
	})
}
