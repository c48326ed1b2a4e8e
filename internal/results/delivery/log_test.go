package delivery

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
	"github.com/ncsa/clowder-ray/internal/results/resultstest/golden"
)

func TestEachEventIsALineOfTheLog(t *testing.T) {
	t.Parallel()
	loss := 0.5
	for name, tc := range map[string]struct {
		event results.Event
		want  string
	}{
		"a phase":                      {results.Event{Kind: results.KindPhase, Text: "Reading"}, "Reading"},
		"a decision":                   {results.Event{Kind: results.KindDecision, What: "label", Choice: []byte(`["a","b"]`), Why: "So."}, "decision: label = a and b. So."},
		"a warning":                    {results.Event{Kind: results.KindWarning, Text: "few rows"}, "warning: few rows"},
		"an error":                     {results.Event{Kind: results.KindError, What: "It broke."}, "error: It broke."},
		"a trial":                      {results.Event{Kind: results.KindTrial, Trial: 7, Settings: "learning_rate 0.002", State: "dropped", Loss: &loss}, "trial 7 (learning_rate 0.002): dropped, validation loss 0.500"},
		"a running trial":              {results.Event{Kind: results.KindTrial, Trial: 7, State: "running"}, ""},
		"an evaluation":                {results.Event{Kind: results.KindEval, Epoch: 1.5, Split: "validation", Metrics: map[string]float64{"r2": 0.5, "accuracy": 0.9}}, "epoch 1.5, validation: Accuracy 0.900 R² 0.500"},
		"a model among several":        {results.Event{Kind: results.KindEval, Model: "trees", Split: "validation", Metrics: map[string]float64{"r2": 0.5}}, "trees, validation: R² 0.500"},
		"the delivered model":          {results.Event{Kind: results.KindEval, Split: "test", Metrics: map[string]float64{"r2": 0.5}}, "the model, test: R² 0.500"},
		"the best model":               {results.Event{Kind: results.KindBest, Epoch: 2, Metric: "rmse", Value: 12}, "best so far: epoch 2, RMSE 12.00"},
		"a resume":                     {results.Event{Kind: results.KindResume, Text: "from step 5"}, "resumed: from step 5"},
		"the machine":                  {results.Event{Kind: results.KindResource, Workers: 2, Device: "cpu"}, "2 workers on cpu"},
		"progress comes too often":     {results.Event{Kind: results.KindProgress, Epoch: 1}, ""},
		"a kind of a newer trainer":    {results.Event{Kind: "mood", Text: "happy"}, ""},
		"a checkpoint comes too often": {results.Event{Kind: results.KindCheckpoint}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, logLine(tc.event, nil))
		})
	}
}

func TestAnEventCannotForgeALineOfTheLog(t *testing.T) {
	t.Parallel()
	root, err := resultstest.New(t).Run().Open()
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()
	var out bytes.Buffer
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	require.NoError(t, writeLog(&out, root, []results.Event{{Time: at, Attempt: 1, Kind: results.KindPhase, Text: "a\n2026-11-21 10:00:00  attempt 1  forged\x1b[2J"}}))
	lines := strings.Split(out.String(), "\n")
	require.Equal(t, "2026-11-21 10:00:00  attempt 1  a 2026-11-21 10:00:00 attempt 1 forged [2J", lines[2])
}

// TestDeliverablesAreDescribedInWords holds the titles and descriptions that users read beside their files.
func TestDeliverablesAreDescribedInWords(t *testing.T) {
	t.Parallel()
	for _, name := range resultstest.GoldenResults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := resultstest.NewGolden(t, name, resultstest.SetOption("upload", "everything"))
			artifacts, err := buildAll(t, f)
			require.NoError(t, err)
			var out strings.Builder
			for _, a := range artifacts {
				out.WriteString(a.Name + " | " + a.ContentType + " | " + string(a.Show) + " | " + a.Title + " | " + a.Description + "\n")
			}
			golden.Require(t, "files-"+strings.TrimSuffix(name, ".json")+".txt", []byte(out.String()))
		})
	}
}

func TestMetadataOfTheGoldenResults(t *testing.T) {
	t.Parallel()
	for _, name := range resultstest.GoldenResults {
		r, err := results.DecodeResult(resultstest.Golden(t, name))
		require.NoError(t, err)
		var out bytes.Buffer
		require.NoError(t, results.WriteJSON(&out, Metadata(resultstest.LikelyMeta(r), r)))
		golden.Require(t, "metadata-"+name, out.Bytes())
	}
}

func TestOnlyWhatIsWorthALookIsOnACard(t *testing.T) {
	t.Parallel()
	for show, want := range map[Show][2]bool{
		ShowNone: {false, false}, ShowImage: {true, true}, ShowThumbnail: {false, true},
		ShowPicture: {true, false}, ShowHTML: {true, false}, ShowVega: {true, false},
	} {
		require.Equal(t, want, [2]bool{show.OnCard(), show.OnModel()}, show)
	}
}
