package models

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/registry"
)

func TestTheHistoryOfAModelIsDrawn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reviews(1)
	require.NotContains(t, f.do("carol", http.MethodGet, "/models/"+ds+"/reviews").Body.String(), "over time")
	of := registry.Dataset{Clowder: clowderHost, ID: ds}
	for i := range 25 {
		sure, unlike := 0.9-float64(i)/100, i
		p := registry.Prediction{
			Run: "pr-" + strings.Repeat("a", i+1), At: time.Date(2026, 11, 1+i, 8, 0, 0, 0, time.UTC), Version: 1, File: "new<b>.csv", Files: 2, Rows: 100,
			Counts: map[string]int{"yes": 60 + i, "no": 40 - i}, Confidence: &sure, Unlike: &unlike,
		}
		if i > 20 {
			p.Score = &registry.Score{Value: 0.8, N: 100}
		}
		require.NoError(t, f.registry.Remember(of, "reviews", p, registry.Answers{}))
	}
	page := f.do("carol", http.MethodGet, "/models/"+ds+"/reviews").Body.String()
	_, drawn, _ := strings.Cut(page, "over time")
	require.Equal(t, 3, strings.Count(drawn, "<svg"), "how sure, the answers, the score")
	for _, want := range []string{"days since 2026-11-01", "yes 84 and no 16", "<td>0.66</td><td>24</td><td>0.8</td>", "new&lt;b&gt;.csv and 1 more", "5 earlier ones are in the charts.", `href="/ray/runs/pr-` + strings.Repeat("a", 25) + `"`} {
		require.Contains(t, page, want)
	}
	var found History
	require.NoError(t, json.Unmarshal(f.do("carol", http.MethodGet, "/api/v1/models/"+ds+"/reviews/history").Body.Bytes(), &found))
	require.Len(t, found.Predictions, 25)
	require.Equal(t, http.StatusNotFound, f.do("dave", http.MethodGet, "/api/v1/models/"+ds+"/reviews/history").Code)
}

func TestLabelsThatCameLaterAreDrawn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.reviews(1)
	of := registry.Dataset{Clowder: clowderHost, ID: ds}
	rows := map[string]registry.Answer{"1": {Predicted: "yes"}, "2": {Predicted: "no"}, "3": {Predicted: "yes", Proposed: true}}
	p := registry.Prediction{Run: "pr-a", At: time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC), Version: 1, File: "new.csv", Files: 1, Rows: 5}
	require.NoError(t, f.registry.Remember(of, "reviews", p, registry.Answers{Unlabelled: 4, Repeated: 1, Rows: rows}))
	_, err := f.registry.Compare(of, "reviews", "ft-b", map[string]string{"1": "yes", "3": "no"}, "accuracy")
	require.NoError(t, err)
	page := f.do("carol", http.MethodGet, "/models/"+ds+"/reviews").Body.String()
	require.Contains(t, page, "accuracy 0.5 on 2 of 4 rows, 1 proposed for labelling; 1 id not unique")
	require.Contains(t, page, "of which the model was least sure")
	require.Contains(t, page, "labels that came later")
	var found History
	require.NoError(t, json.Unmarshal(f.do("carol", http.MethodGet, "/api/v1/models/"+ds+"/reviews/history").Body.Bytes(), &found))
	later := found.Predictions[0].Later
	require.Equal(t, []any{"accuracy", 0.5, 2, 4, 1, 1}, []any{later.Metric, later.Value, later.Rows, later.Of, later.Repeated, later.Proposed})
}

func TestTheHistoryOfAModelOfNumbersHasTheMean(t *testing.T) {
	t.Parallel()
	mean := 12.5
	drawn := History{Predictions: []PredictionOverTime{{Rows: 3, Mean: &mean}, {Rows: 4, Mean: &mean, At: time.Unix(1e6, 0)}}}.drawn("rmse", "RMSE")
	require.Len(t, drawn.Pictures, 1)
	require.Equal(t, "mean 12.5", drawn.Newest[0].Answers())
	require.Nil(t, History{}.drawn("rmse", "RMSE"))
}
