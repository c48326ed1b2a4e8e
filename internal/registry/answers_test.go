package registry

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/disk"
)

var birds = Dataset{Clowder: "https://clowder.example.org", ID: "655fd7c3e4b0a1b2c3d4e5f6"}

// predicted is a prediction of a day in November, and the answers of it.
func predicted(day int, answers map[string]string) (Prediction, Answers) {
	kept := Answers{Unlabelled: len(answers), Rows: map[string]Answer{}}
	for id, said := range answers {
		kept.Rows[id] = Answer{Predicted: said}
	}
	at := time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC)
	return Prediction{Run: fmt.Sprintf("pr-%d", day), At: at, Version: 1, File: "a.csv", Files: 1, Rows: len(answers)}, kept
}

func TestLabelsThatComeLaterGiveTheScoreOfAnEarlierPrediction(t *testing.T) {
	t.Parallel()
	r := New(disk.Folder{Volume: t.TempDir()})
	first, kept := predicted(1, map[string]string{"1": "wren", "2": "wren", "3": "owl"})
	require.NoError(t, r.Remember(birds, "birds", first, kept))
	second, kept2 := predicted(2, map[string]string{"3": "owl", "4": "owl"})
	require.NoError(t, r.Remember(birds, "birds", second, kept2))

	none, err := r.Compare(birds, "birds", "pr-3", map[string]string{"9": "owl"}, "accuracy")
	require.NoError(t, err)
	require.Equal(t, Matched{Kept: 2}, none, "no id is known")

	labels := map[string]string{"1": "wren", "2": "owl", "9": "owl"}
	for range 2 { // the run that brought the labels is delivered again after a kill
		found, err := r.Compare(birds, "birds", "pr-3", labels, "accuracy")
		require.NoError(t, err)
		require.Equal(t, 2, found.Labels)
		require.Equal(t, "pr-1", found.Newest.Run)
	}
	require.NoError(t, r.Remember(birds, "birds", first, kept), "so is the prediction")
	all, err := r.History(birds, "birds")
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, 2, all[0].Later.Score.N)
	require.Equal(t, 3, all[0].Later.Of)
	require.InDelta(t, 0.5, all[0].Later.Score.Value, 1e-12)
	require.Nil(t, all[1].Later)

	found, err := r.Compare(birds, "birds", "pr-2", map[string]string{"3": "owl", "2": "wren"}, "accuracy") // one label is new, one was corrected
	require.NoError(t, err)
	require.Equal(t, "pr-1", found.Newest.Run, "a prediction is not compared with its own labels")
	all, err = r.History(birds, "birds")
	require.NoError(t, err)
	require.Equal(t, 3, all[0].Later.Score.N)
	require.InDelta(t, 1, all[0].Later.Score.Value, 1e-12)
}

func TestAKillBetweenAnswersAndHistoryLosesNoScore(t *testing.T) {
	t.Parallel()
	r := New(disk.Folder{Volume: t.TempDir()})
	p, kept := predicted(1, map[string]string{"1": "wren"})
	require.NoError(t, r.Remember(birds, "birds", p, kept))
	_, err := r.Compare(birds, "birds", "ft-1", map[string]string{"1": "wren"}, "accuracy")
	require.NoError(t, err)
	require.NoError(t, r.writeHistory(birds, "birds", []Prediction{p}), "as before the comparison")
	_, err = r.Compare(birds, "birds", "ft-1", map[string]string{"1": "wren"}, "accuracy")
	require.NoError(t, err)
	all, err := r.History(birds, "birds")
	require.NoError(t, err)
	require.Equal(t, 1, all[0].Later.Score.N)
}

func TestKeptAnswersAreBounded(t *testing.T) {
	t.Parallel()
	r := New(disk.Folder{Volume: t.TempDir()})
	var all []Answers
	for day := range 6 {
		_, kept := predicted(day+1, nil)
		kept.Run = fmt.Sprintf("pr-%d", day+1)
		for i := range 10_000 {
			kept.Rows[fmt.Sprintf("%d-%d", day, i)] = Answer{Predicted: strings.Repeat("w", 150)}
		}
		all = append(all, kept)
	}
	require.NoError(t, r.writeAnswers(birds, "birds", all))
	path := r.named(birds.Folder(), "birds").In(answersFile).Path()
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.LessOrEqual(t, info.Size(), int64(maxAnswersFile))
	all = r.answers(birds, "birds")
	require.Less(t, len(all), 6)
	require.Equal(t, "pr-6", all[len(all)-1].Run, "the newest stay")
	require.NoError(t, os.WriteFile(path, []byte("["), 0o600))
	found, err := r.Compare(birds, "birds", "ft-1", map[string]string{"1": "w"}, "accuracy")
	require.NoError(t, err)
	require.Zero(t, found.Kept, "what cannot be read counts as none")
}

// TestScoresAreThoseOfTheTrainer has values that trainer/measure gave for these answers.
func TestScoresAreThoseOfTheTrainer(t *testing.T) {
	t.Parallel()
	classes := [][2]string{{"a", "a"}, {"a", "b"}, {"b", "b"}, {"c", "b"}, {"b", "b"}, {"a", "d"}}
	numbers := [][2]string{{"1.5", "1"}, {"2", "2.5"}, {"10", "4"}, {"3", "3"}, {"4", "many"}}
	for metric, want := range map[string]float64{"accuracy": 0.5, "f1_macro": 0.2916666667, "f1_weighted": 0.5277777778, "mcc": 0.3517632353, "roc_auc": 0.5} {
		later := answered(classes, false).score(metric)
		require.InDelta(t, want, later.Score.Value, 1e-9, metric)
		require.Equal(t, 6, later.Score.N)
	}
	for metric, want := range map[string]float64{"rmse": 3.0207614934, "mae": 1.75, "r2": -6.7866666667, "spearman": 3.0207614934} {
		later := answered(numbers, true).score(metric)
		require.InDelta(t, want, later.Score.Value, 1e-9, metric)
		require.Equal(t, 4, later.Score.N, "what is no number is left out")
	}
	require.Nil(t, answered([][2]string{{"1", "many"}}, true).score("rmse"))
	require.Nil(t, answered(nil, false).score("accuracy"))
	require.Equal(t, "accuracy", answered(classes, false).score("roc_auc").Metric)
}

// answered are answers with the labels that came later.
func answered(pairs [][2]string, numbers bool) Answers {
	a := Answers{Numbers: numbers, Rows: map[string]Answer{}}
	for i, pair := range pairs {
		a.Rows[strconv.Itoa(i)] = Answer{Predicted: pair[0], Label: &pair[1]}
	}
	return a
}
