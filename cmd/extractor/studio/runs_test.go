package studio

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/job"
	clowderplatform "github.com/ncsa/clowder-ray/internal/platform/clowder"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/studio/runs"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

func TestOnlyJobsOfTheOwnClowderAreShown(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 0)
	for name, tc := range map[string]struct {
		host string
		want bool
	}{
		"a message that names no host":           {"", true},
		"a message with a name of that network":  {"http://clowder:8000", true},
		"a message that names another Clowder":   {"https://other.example.org", true},
		"a message of a host that is not served": {"https://evil.example.org", true},
	} {
		require.Equal(t, tc.want, f.parts.ours(job.Record{Request: job.Request{APIVersion: 2, Host: tc.host}}), "%s: CLOWDER_URL overrides it", name)
	}

	// Without CLOWDER_URL the host of the message decides.
	var err error
	f.parts.Clowder, err = clowder.NewClient(clowder.Config{AllowedHosts: []string{"https://own.example.org", "https://other.example.org"}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.parts.Clowder.Close()) })
	f.parts.Places = clowderplatform.New(f.parts.Clowder, f.parts.Extractors)
	for host, want := range map[string]bool{
		"https://own.example.org": true, "https://own.example.org/": true, "https://other.example.org": false, "https://evil.example.org": false,
	} {
		require.Equal(t, want, f.parts.ours(job.Record{Request: job.Request{APIVersion: 2, Host: host}}), host)
	}
}

func TestTheChampionOfAModelWithoutOneIsNone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2)
	made := f.register(t, "films", 2)
	for name, tc := range map[string]struct {
		dataset, model string
		version        int
		run            string
	}{
		"the champion":          {f.dataset, "films", 1, "ft-films-1"},
		"another model":         {f.dataset, "birds", 0, ""},
		"another dataset":       {"655fd7c3e4b0a1b2c3d4e5f6", "films", 0, ""},
		"a name that is a path": {f.dataset, "../films", 0, ""},
		"a dataset that is one": {"../" + f.dataset, "films", 0, ""},
	} {
		version, run := f.parts.champion(tc.dataset, tc.model)
		require.Equal(t, []any{tc.version, tc.run}, []any{version, run}, name)
	}
	folder := registry.New(f.parts.Volume.Registry()).Model(made[0]).Path()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "..", "..", "champion.json"), []byte("{"), 0o600))
	version, _ := f.parts.champion(f.dataset, "films")
	require.Zero(t, version, "a damaged file makes no page fail")
}

func TestTheFormsAreThoseOfTheExtractors(t *testing.T) {
	t.Parallel()
	h := newFixture(t, 2)
	h.parts.Extractors[0].Queue = "own.train"
	var found []string
	for _, f := range forms(h.parts.Extractors) {
		found = append(found, strings.Join([]string{f.Name, f.Kind, f.Noun, f.Keeps}, "|"))
		require.NotNil(t, f.Info)
	}
	require.Equal(t, []string{
		"own.train|train|training|the best model so far",
		"ncsa.ray.finetune-advanced|train|training|the best model so far",
		"ncsa.ray.predict|predict|prediction|",
		"ncsa.ray.script|script|script|everything that the script has saved", "ncsa.ray.runs|runs|request|",
	}, found)
	require.Empty(t, forms(nil))
}

// TestAVisitorAsksClowderWithTheirOwnKey: what they may not see there, they do not see here.
func TestAVisitorAsksClowderWithTheirOwnKey(t *testing.T) {
	t.Parallel()
	for _, version := range []int{1, 2} {
		t.Run(fmt.Sprintf("Clowder v%d", version), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, version)
			id, err := f.clowder.AddFile(f.dataset, "raw/träin ü.csv", strings.NewReader("a,b\n"))
			require.NoError(t, err)
			by := f.alice(t)
			name, creator, err := asVisitor{}.Dataset(t.Context(), by, f.dataset)
			require.NoError(t, err)
			require.Equal(t, "Film reviews", name)
			if version == 2 { // v1 does not say it
				require.Equal(t, alice, creator)
			}
			files, err := asVisitor{}.Files(t.Context(), by, f.dataset)
			require.NoError(t, err)
			require.Equal(t, []runs.DatasetFile{{ID: id, Name: "raw/träin ü.csv"}}, files)

			f.clowder.RevokeKey(f.clowder.Key(alice))
			for name, ask := range map[string]func() error{
				"the dataset": func() error { _, _, err := asVisitor{}.Dataset(t.Context(), by, f.dataset); return err },
				"its files":   func() error { _, err := asVisitor{}.Files(t.Context(), by, f.dataset); return err },
				"a job": func() error {
					_, err := asVisitor{}.Submit(t.Context(), by, f.dataset, "ncsa.ray.finetune", map[string]any{"epochs": 1})
					return err
				},
			} {
				problem := web.AsProblem(ask())
				require.Contains(t, []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound}, problem.Status, "%s: %s", name, problem.Detail)
			}
		})
	}
}
