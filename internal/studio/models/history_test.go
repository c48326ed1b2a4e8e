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
		require.NoError(t, f.registry.Remember(of, "reviews", p))
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

func TestTheHistoryOfAModelOfNumbersHasTheMean(t *testing.T) {
	t.Parallel()
	mean := 12.5
	drawn := History{Predictions: []PredictionOverTime{{Rows: 3, Mean: &mean}, {Rows: 4, Mean: &mean, At: time.Unix(1e6, 0)}}}.drawn("rmse")
	require.Len(t, drawn.Pictures, 1)
	require.Equal(t, "mean 12.5", drawn.Newest[0].Answers())
	require.Nil(t, History{}.drawn("rmse"))
}
