package studio

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/clowder"
	"github.com/ncsa/clowder-ray/internal/clowder/clowdertest"
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

const predictor = "ncsa.ray.predict"

func TestTheNewestNoteNamesTheChampion(t *testing.T) {
	t.Parallel()
	at := func(minute int, content map[string]any) clowder.Metadata {
		return clowder.Metadata{Content: content, Created: time.Unix(1e9, 0).Add(time.Duration(minute) * time.Minute)}
	}
	note := func(minute int, name string, champion any) clowder.Metadata {
		return at(minute, map[string]any{"name": name, "champion": champion})
	}
	for name, tc := range map[string]struct {
		entries []clowder.Metadata
		want    string
	}{
		"no entry":                          {nil, ""},
		"one entry":                         {[]clowder.Metadata{note(1, "films", "films/1")}, "films/1"},
		"the newest is last":                {[]clowder.Metadata{note(1, "films", "films/1"), note(2, "films", "films/2")}, "films/2"},
		"the newest is first":               {[]clowder.Metadata{note(2, "films", "films/2"), note(1, "films", "films/1")}, "films/2"},
		"the later one of the same second":  {[]clowder.Metadata{note(1, "films", "films/1"), note(1, "films", "films/2")}, "films/2"},
		"another model":                     {[]clowder.Metadata{note(1, "films", "films/1"), note(2, "birds", "birds/4")}, "films/1"},
		"an entry about something else":     {[]clowder.Metadata{note(1, "films", "films/1"), at(2, map[string]any{"name": "films"})}, "films/1"},
		"a champion that is no text":        {[]clowder.Metadata{note(1, "films", "films/1"), note(2, "films", 2.0)}, "films/1"},
		"entries without a time":            {[]clowder.Metadata{{Content: map[string]any{"name": "films", "champion": "films/3"}}}, "films/3"},
		"an entry that says nothing at all": {[]clowder.Metadata{note(1, "films", "films/1"), {Created: time.Unix(2e9, 0)}}, "films/1"},
	} {
		require.Equal(t, tc.want, championNoted(tc.entries, "films"), name)
	}
}

// TestAPromotionIsNotedInBothVersionsOfClowder: the note is written with the visitor's key, once, and again after another champion.
func TestAPromotionIsNotedInBothVersionsOfClowder(t *testing.T) {
	t.Parallel()
	for _, version := range []int{1, 2} {
		t.Run(fmt.Sprintf("Clowder v%d", version), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, version)
			made := f.register(t, "films", 2)
			commands, by := modelCommands{f.parts, registry.New(f.parts.Volume.Registry())}, f.alice(t)
			noted := func() (champions []any) {
				entries, err := by.Clowder.Metadata(t.Context(), f.dataset)
				require.NoError(t, err)
				for _, m := range entries {
					champions = append(champions, m.Content["champion"])
				}
				return champions
			}
			require.NoError(t, commands.Promote(t.Context(), by, made[1]))
			require.NoError(t, commands.Promote(t.Context(), by, made[1]))
			require.Equal(t, []any{"films/2"}, noted(), "a note that is there is not repeated")
			number, run := f.parts.champion(f.dataset, "films")
			require.Equal(t, []any{2, "ft-films-2"}, []any{number, run})

			entries, err := by.Clowder.Metadata(t.Context(), f.dataset)
			require.NoError(t, err)
			require.Equal(t, "ft-films-2", entries[0].Content["run"])
			require.Equal(t, "1.2.3", entries[0].Content["version"], "the version of the service, as other entries have it")
			require.Equal(t, "ncsa.ray.runs", entries[0].Listener)

			f.clowder.Fail(clowdertest.Fault{Method: http.MethodPost, Path: "metadata", Status: http.StatusInternalServerError})
			err = commands.Promote(t.Context(), by, made[0])
			problem := web.AsProblem(err)
			require.Equal(t, []any{"not-noted", http.StatusBadGateway}, []any{problem.Type, problem.Status})
			require.Contains(t, problem.Detail, "films/1 is the champion now")
			number, _ = f.parts.champion(f.dataset, "films")
			require.Equal(t, 1, number, "the champion has changed all the same")
			f.clowder.ClearFaults()
			require.NoError(t, commands.Promote(t.Context(), by, made[0]))
			require.ElementsMatch(t, []any{"films/1", "films/2"}, noted())
		})
	}
}

func TestAPromotionOfAVersionThatIsGoneNotesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2)
	gone := f.register(t, "films", 1)[0]
	gone.Version = 7
	commands := modelCommands{f.parts, registry.New(f.parts.Volume.Registry())}
	err := commands.Promote(t.Context(), f.alice(t), gone)
	require.ErrorContains(t, err, "films/7")
	require.Zero(t, f.clowder.Requests("", "metadata"))
}

// TestWhatIsUnsureIsWhatTheNewestPredictionSays: people choose min_confidence in the form of a prediction.
func TestWhatIsUnsureIsWhatTheNewestPredictionSays(t *testing.T) {
	t.Parallel()
	chosen := func(value any) func(*job.Record) {
		return func(r *job.Record) {
			r.Kind, r.Request.Extractor, r.Request.Parameters = job.Predict, predictor, map[string]any{"min_confidence": value}
		}
	}
	edited := func(value any, edit func(*job.Request)) func(*job.Record) {
		return func(r *job.Record) {
			chosen(value)(r)
			edit(&r.Request)
		}
	}
	for name, tc := range map[string]struct {
		records []func(*job.Record)
		want    float64
	}{
		"no prediction yet":         {nil, defaultSure},
		"one prediction":            {[]func(*job.Record){chosen(0.9)}, 0.9},
		"the newest of two":         {[]func(*job.Record){chosen(0.9), chosen(0.7)}, 0.7},
		"everything is sure":        {[]func(*job.Record){chosen(0.0)}, 0},
		"only certainty is sure":    {[]func(*job.Record){chosen(1.0)}, 1},
		"a value that cannot be":    {[]func(*job.Record){chosen(0.8), chosen(1.01)}, 0.8},
		"a negative value":          {[]func(*job.Record){chosen(0.8), chosen(-0.1)}, 0.8},
		"a value that is a text":    {[]func(*job.Record){chosen(0.8), chosen("0.9")}, 0.8},
		"a prediction without it":   {[]func(*job.Record){chosen(0.8), chosen(nil)}, 0.8},
		"a training":                {[]func(*job.Record){chosen(0.8), edited(0.9, func(r *job.Request) { r.Extractor = "ncsa.ray.finetune" })}, 0.8},
		"an extractor that is gone": {[]func(*job.Record){edited(0.9, func(r *job.Request) { r.Extractor = "ncsa.ray.gone" })}, defaultSure},
		"another dataset":           {[]func(*job.Record){chosen(0.8), edited(0.9, func(r *job.Request) { r.DatasetID = strings.Repeat("e", 24) })}, 0.8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, 2)
			for i, change := range tc.records {
				f.accept(t, fmt.Sprintf("pr-%d", i), change)
			}
			require.InDelta(t, tc.want, f.parts.minConfidence(t.Context(), f.dataset), 0)
		})
	}
}

func TestTheExtractorThatManagesRunsIsAskedForAnExport(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2)
	commands := modelCommands{parts: f.parts}
	require.Equal(t, "ncsa.ray.runs", commands.manager().Name())
	for i := range f.parts.Extractors {
		if f.parts.Extractors[i].Kind == job.Runs {
			f.parts.Extractors[i].Queue = "private.key.ncsa.ray.runs"
		}
	}
	require.Equal(t, "private.key.ncsa.ray.runs", commands.manager().Name(), "Clowder knows it by its queue")

	version := f.register(t, "films", 1)[0]
	require.Error(t, commands.Export(t.Context(), f.alice(t), version), "a Clowder without a broker takes no job")
	require.Equal(t, 1, f.clowder.Requests(http.MethodPost, f.dataset+"/extract"))
}
