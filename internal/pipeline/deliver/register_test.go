package deliver

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/jobtest"
	"github.com/ncsa/clowder-ray/internal/pipeline/volume"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/byid"
)

func TestACheckAndAPredictionMakeNoVersion(t *testing.T) {
	t.Parallel()
	d := &Deliverer{Registry: registry.New(volume.Volume{Dir: t.TempDir()}.Registry())}
	for _, kind := range []results.ResultKind{results.ResultCheck, results.ResultPrediction} {
		rec := jobtest.Record("ft-one", "h")
		rec.Model = []byte(`{"name":"films","version":2,"run":"ft-other"}`)
		kept, err := d.register(t.Context(), rec, &results.Result{Kind: kind})
		require.NoError(t, err)
		require.Equal(t, "films/2", kept.Ref(), "the model that it used stays in the record")
		require.Zero(t, modelVersion(rec, kept), "it is not its own")
	}
	require.Empty(t, d.Registry.Datasets())
}

// oneClowder is a platform of which only the address is asked.
type oneClowder struct{ Platform }

func (oneClowder) Address(job.Record) (string, error) { return "https://clowder.example.org", nil }

func TestAnAutomaticPredictionIsRememberedOnce(t *testing.T) {
	t.Parallel()
	v := volume.Volume{Dir: t.TempDir()}
	said := &remarks{}
	d := &Deliverer{Volume: v, Registry: registry.New(v.Registry()), Platform: oneClowder{}, Statuses: said}
	rec := jobtest.Record("pr-one", "h")
	left := func(run, ids string) {
		root, err := v.Run(run).Make()
		require.NoError(t, err)
		require.NoError(t, root.WriteFile(byid.File, fmt.Appendf(nil, `{"schema":1,"run":%q,"attempt":1,"form":"class",%s}`, run, ids), 0o600))
		require.NoError(t, root.Close())
	}
	left("pr-one", `"rows":2,"answers":{"0000000000000001":"yes","0000000000000002":"no"},"labels":{"0000000000000003":"no"}`)
	rec.Model = fmt.Appendf(nil, `{"name":"films","version":2,"run":"ft-other","metric":"accuracy","dataset_id":%q}`, rec.Request.DatasetID)
	sure, unlike := 0.8, 3
	result := &results.Result{Kind: results.ResultPrediction, Attempt: 1, Prediction: &results.Prediction{
		Rows: 10, Files: []string{"new.csv"}, Counts: results.Counts{"yes": 7, "no": 3}, MeanConfidence: &sure, Unlike: &unlike,
		Scores: results.Scores{"accuracy": {Value: 0.9, N: 10}, "f1_macro": {Value: 0.1}},
	}}
	of := registry.Dataset{Clowder: "https://clowder.example.org", ID: rec.Request.DatasetID}
	for _, announced := range [][]job.Announced{nil, {{File: "a"}}, {{File: "a"}}} { // nobody asked for the last two, and one was delivered twice
		rec.Request.Announced = announced
		_, err := d.register(t.Context(), rec, result)
		require.NoError(t, err)
	}
	all, err := d.Registry.History(of, "films")
	require.NoError(t, err)
	require.Equal(t, []registry.Prediction{{
		Run: "pr-one", At: rec.Created, Version: 2, File: "new.csv", Files: 1, Rows: 10, Counts: map[string]int{"yes": 7, "no": 3}, Confidence: &sure, Unlike: &unlike,
		Score: &registry.Score{Value: 0.9, N: 10},
	}}, all)
	require.Contains(t, said.all[0], "None of 1 label with an id is of a row that films predicted before.")

	later := jobtest.Record("pr-two", "h")
	later.Model, later.Request.DatasetID = rec.Model, rec.Request.DatasetID
	left("pr-two", `"labels":{"0000000000000001":"yes","0000000000000004":"yes"},"contradicting":1`)
	labels := &results.Result{Kind: results.ResultPrediction, Attempt: 1, Prediction: &results.Prediction{}}
	for range 2 { // delivered again after a kill
		_, err = d.register(t.Context(), later, labels)
		require.NoError(t, err)
	}
	all, err = d.Registry.History(of, "films")
	require.NoError(t, err)
	require.Len(t, all, 1, "labels alone are no prediction")
	require.Equal(t, []int{1, 2}, []int{all[0].Later.Score.N, all[0].Later.Of})
	last := said.all[len(said.all)-1]
	require.Contains(t, last, "1 of 2 labels are of rows that films predicted before.")
	require.Contains(t, last, "1 of 2 rows have a label now: accuracy 1. 1 id with different labels in several rows: not compared.")

	before := len(said.all)
	later.Request.DatasetID = strings.Repeat("e", 24) // the model is of a dataset that this user may not be able to edit
	_, err = d.register(t.Context(), later, labels)
	require.NoError(t, err)
	require.Len(t, said.all, before)
	left("pr-two", `"labels":{"P017":"yes"}`)
	later.Request.DatasetID = rec.Request.DatasetID
	_, err = d.register(t.Context(), later, labels)
	require.NoError(t, err, "what cannot be read stops no delivery")
	require.Contains(t, said.all[len(said.all)-1], "not compared with earlier predictions: ids.json")
}

// remarks keeps what users are told.
type remarks struct {
	Statuses
	all []string
}

func (r *remarks) Remark(_ job.Record, sentence string) { r.all = append(r.all, sentence) }

func TestWhoBecomesTheChampion(t *testing.T) {
	t.Parallel()
	scores := func(metric string, v float64) results.Scores { return results.Scores{metric: {Value: v, N: 40}} }
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	reigning := &registry.Version{Name: "films", Version: 2, Run: "ft-two", Created: noon}
	for name, tc := range map[string]struct {
		mode      string
		metric    string
		mine      float64
		measured  *results.Champion
		first     bool
		wins      bool
		why       string
		withoutMe bool
		late      bool // its run was accepted before the champion's
	}{
		"the first version":   {mode: "if_better", metric: "accuracy", mine: 0.5, first: true, wins: true, why: "it is the first version"},
		"the first, unwanted": {mode: "no", metric: "accuracy", mine: 0.5, first: true, why: "make_champion says no"},
		"a worse one by will": {mode: "yes", metric: "accuracy", mine: 0.1, wins: true, why: "make_champion says yes"},
		"a late one by will":  {mode: "yes", metric: "accuracy", mine: 0.99, late: true, why: "films/2 remains the champion because it was made by a later run"},
		"a better one": {
			mode: "if_better", metric: "accuracy", mine: 0.91, wins: true,
			measured: &results.Champion{Run: "ft-two", Comparable: true, Test: scores("accuracy", 0.88)},
			why:      "films/2 was the champion with accuracy 0.880 against 0.910 on the same test rows",
		},
		"an equal one": {
			mode: "if_better", metric: "accuracy", mine: 0.88,
			measured: &results.Champion{Run: "ft-two", Comparable: true, Test: scores("accuracy", 0.88)},
			why:      "films/2 remains the champion with accuracy 0.880 against 0.880 on the same test rows",
		},
		"a smaller error is better": {
			mode: "if_better", metric: "rmse", mine: 1.5, wins: true,
			measured: &results.Champion{Run: "ft-two", Comparable: true, Test: scores("rmse", 2)},
			why:      "films/2 was the champion with RMSE 2.000 against 1.500 on the same test rows",
		},
		"one of other labels": {
			mode: "if_better", metric: "accuracy", mine: 0.9, measured: &results.Champion{Run: "ft-two", Why: "its labels are others."},
			why: "films/2 remains the champion because the two models cannot be compared: its labels are others",
		},
		"one that nobody measured": {
			mode: "if_better", metric: "accuracy", mine: 0.9, why: "films/2 remains the champion because the two models were not tested on the same rows",
		},
		"one measured against a champion of yesterday": {
			mode: "if_better", metric: "accuracy", mine: 0.9, measured: &results.Champion{Run: "ft-one", Comparable: true, Test: scores("accuracy", 0.1)},
			why: "films/2 remains the champion because the two models were not tested on the same rows",
		},
		"one without test rows": {
			mode: "if_better", metric: "accuracy", withoutMe: true, measured: &results.Champion{Run: "ft-two", Comparable: true, Test: scores("accuracy", 0.1)},
			why: "films/2 remains the champion because there are no test rows for a comparison",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &results.Result{Metric: tc.metric, Champion: tc.measured, Settings: []results.Setting{{Name: "make_champion", Value: tc.mode}}}
			if !tc.withoutMe {
				r.Metrics.Test = scores(tc.metric, tc.mine)
			}
			champion := reigning
			if tc.first {
				champion = nil
			}
			accepted := noon.Add(time.Hour)
			if tc.late {
				accepted = noon.Add(-time.Hour)
			}
			wins, why := judge(r, accepted, champion)
			require.Equal(t, tc.why, why)
			require.Equal(t, tc.wins, wins)
		})
	}
}

func TestTheNameOfAVersion(t *testing.T) {
	t.Parallel()
	rec := job.New("ft-one", job.Train, job.Request{Name: "Film reviews"}, "")
	require.Equal(t, "Film reviews", newVersion(rec, &results.Result{}).Name)
	require.Equal(t, "stars", newVersion(rec, &results.Result{Settings: []results.Setting{{Name: "register_as", Value: "stars"}}}).Name)
}
