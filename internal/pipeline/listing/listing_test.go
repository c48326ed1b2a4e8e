package listing_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/listing"
	"github.com/ncsa/clowder-ray/internal/registry"
)

func TestRun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(r *job.Record)
		said   string
		want   string
	}{
		"being prepared": {func(*job.Record) {}, "", `Training ft-one, 2026-11-27 08:05 UTC, being prepared`},
		"named, with its newest status": {
			func(r *job.Record) { r.Settings.RunName, r.State = "slow", job.Submitted }, "Waiting for Ray to start the job",
			`Training ft-one "slow", 2026-11-27 08:05 UTC, waiting: Waiting for Ray to start the job`,
		},
		"running":         {func(r *job.Record) { r.State, r.Trained = job.Running, time.Now().Add(-3*time.Minute) }, "", `Training ft-one, 2026-11-27 08:05 UTC, running for about 3 min`},
		"saving":          {func(r *job.Record) { r.State = job.Collected }, "", `Training ft-one, 2026-11-27 08:05 UTC, saving its results`},
		"being cancelled": {func(r *job.Record) { r.State, r.CancelledBy = job.Running, "alice" }, "", `Training ft-one, 2026-11-27 08:05 UTC, being cancelled`},
		"its end stands for its newest status": {
			func(r *job.Record) { r.Ending = &job.Ending{State: job.Failed, Text: "out of memory"} }, "Epoch 1 of 2",
			`Training ft-one, 2026-11-27 08:05 UTC, failed: out of memory`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := job.Record{Run: "ft-one", State: job.Accepted, Created: time.Date(2026, 11, 27, 8, 5, 59, 0, time.UTC)}
				tc.change(&r)
				require.Equal(t, tc.want, listing.Run("Training", r, tc.said))
			})
		})
	}
}

func TestRunsAreCountedByState(t *testing.T) {
	t.Parallel()
	now := time.Now()
	running := func(since time.Duration) job.Record {
		return job.Record{State: job.Running, Trained: now.Add(-since)}
	}
	done := job.Record{Ending: &job.Ending{State: job.Done}}
	for want, runs := range map[string][]job.Record{
		"This dataset has no such run":                            nil,
		"1 run in this dataset: 1 done":                           {done},
		"3 runs in this dataset: 2 running, 1 done":               {running(time.Minute), done, running(time.Hour)},
		"7 runs in this dataset: 7 done; the newest 6 are listed": {done, done, done, done, done, done, done},
	} {
		require.Equal(t, want, listing.Runs(runs))
	}
}

func TestModel(t *testing.T) {
	t.Parallel()
	low, high := 0.88, 0.96
	v := registry.Version{
		Name: "reviews", Version: 2, Run: "ft-one", Task: "text classification", Base: "words", Metric: "accuracy",
		Created: time.Date(2026, 11, 27, 8, 5, 0, 0, time.UTC),
	}
	require.Equal(t, "reviews/2: without test rows, text classification from words, made 2026-11-27 08:05 UTC by run ft-one", listing.Model(v, false))
	v.Test = &registry.Score{Value: 0.93, N: 1}
	require.Equal(t, "reviews/2: accuracy 0.930 on 1 test row, text classification from words, made 2026-11-27 08:05 UTC by run ft-one", listing.Model(v, false))
	v.Test = &registry.Score{Value: 0.93, Low: &low, High: &high, N: 200}
	require.Equal(t, "reviews/2, the champion: accuracy 0.930 (0.880 to 0.960) on 200 test rows, text classification from words, made 2026-11-27 08:05 UTC by run ft-one",
		listing.Model(v, true))
}

func TestModelsNameTheirChampions(t *testing.T) {
	t.Parallel()
	a, b := registry.Version{Name: "a"}, registry.Version{Name: "b"}
	for name, tc := range map[string]struct {
		versions  []registry.Version
		champions map[string]string
		want      string
	}{
		"none":                         {nil, nil, "This dataset has no such model"},
		"no champion":                  {[]registry.Version{a}, map[string]string{"a": ""}, "1 version in this dataset; no champion"},
		"one champion of two versions": {[]registry.Version{a, a}, map[string]string{"a": "a/1"}, "2 versions in this dataset; champion: a/1"},
		"two champions, in the order of the versions": {
			[]registry.Version{b, a, b},
			map[string]string{"a": "a/1", "b": "b/2"},
			"3 versions in this dataset; champions: b/2, a/1",
		},
		"more than are listed": {[]registry.Version{a, a, a, a, a, a, a}, nil, "7 versions in this dataset; the newest 6 are listed; no champion"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, listing.Models(tc.versions, tc.champions))
		})
	}
}
