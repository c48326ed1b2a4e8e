package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/results/resultstest"
	"github.com/ncsa/clowder-ray/trainer"
)

func TestTheSentenceOfALearningCurve(t *testing.T) {
	t.Parallel()
	loss := chart.Curves{ValidationLoss: []chart.Point{{X: 1, Y: 1}}}
	for name, tc := range map[string]struct {
		best, epochs float64
		stopped      string
		curves       chart.Curves
		want         string
	}{
		"nothing is known":          {0, 0, "", loss, ""},
		"no best epoch":             {0, 3, "", loss, ""},
		"the last epoch is best":    {3, 3, "", loss, "The best validation accuracy was in the last of 3 epochs: more epochs may improve it. The model of epoch 3 was kept."},
		"an earlier epoch is best":  {2, 3, "", loss, "The best validation accuracy was in epoch 2 of 3; later epochs did not improve it. The model of epoch 2 was kept."},
		"it stopped early":          {2, 5, results.StoppedEarly, loss, "The best validation accuracy was in epoch 2 of 5; later epochs did not improve it, so training stopped early. The model of epoch 2 was kept."},
		"it could not be better":    {5, 5, results.StoppedEarly, loss, "The validation accuracy could not become better, so training stopped early. The model of epoch 5 was kept."},
		"the time limit":            {1.25, 2, results.StoppedByTime, loss, "The best validation accuracy was in epoch 1.25 of 2; later epochs did not improve it; the time limit ended training. The model of epoch 1.25 was kept."},
		"it diverged":               {1, 2, results.StoppedDiverged, loss, "The best validation accuracy was in epoch 1 of 2; later epochs did not improve it; training diverged. The model of epoch 1 was kept."},
		"one epoch":                 {1, 1, "", loss, "The model was trained for 1 epoch."},
		"a part of an epoch":        {0.5, 0.5, results.StoppedByTime, loss, "The model was trained for 0.5 epochs."},
		"one epoch without a curve": {1, 1, "", chart.Curves{}, "The model of epoch 1 was kept."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &results.Result{Metric: "accuracy", BestEpoch: tc.best, Training: results.Training{Epochs: tc.epochs, Stopped: tc.stopped}}
			require.Equal(t, tc.want, learningSentence(tc.curves, r))
		})
	}
}

func TestEpochsAreCounted(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0: "0 epochs", 0.5: "0.5 epochs", 1: "1 epoch", 0.9999: "1 epoch", 1.001: "1 epoch", 4.1666: "4.17 epochs"} {
		require.Equal(t, want, epochs(v), "%g", v)
	}
}

func TestVerdictOfARegression(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		rmse, low, high, mean float64
		grade                 Grade
		word                  string
	}{
		"as bad as the mean":    {10, 9, 11, 10, GradeBad, "No better than the mean"},
		"chance may be at work": {9, 8, 10, 10, GradeBad, "No better than the mean"},
		"a little better":       {7, 6, 8, 10, GradeWeak, "Better than the mean, but inaccurate"},
		"clearly better":        {2, 1.5, 2.5, 10, GradeGood, "Clearly better than the mean"},
		"no error at all":       {0, 0, 0, 10, GradeGood, "Clearly better than the mean"},
		"a mean without error":  {0, 0, 0, 0, GradeBad, "No better than the mean"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &results.Result{Kind: results.ResultTraining, Task: "text-regression", Metric: "rmse"}
			r.Metrics.Test = results.Scores{"rmse": {Value: tc.rmse, Low: &tc.low, High: &tc.high, N: 100}}
			r.Metrics.Baselines = []results.Baseline{{Name: "constant", Role: results.RoleConstant, Title: "mean", Test: results.Scores{"rmse": {Value: tc.mean, N: 100}}}}
			v := NewVerdict(r)
			require.Equal(t, []string{string(tc.grade), tc.word}, []string{string(v.Grade), v.Word})
			require.Contains(t, v.Sentence, "always predicting the mean scores "+results.Named("rmse").Figure(tc.mean))
		})
	}
}

func TestVerdictOfACheckAndWhatToDoNext(t *testing.T) {
	t.Parallel()
	check := func(level, words string) results.Check {
		return results.Check{Code: "code", Level: level, Text: words}
	}
	for name, tc := range map[string]struct {
		checks   []results.Check
		warnings []results.Warning
		grade    Grade
		word     string
		found    string
		next     string
	}{
		"all is well":          {[]results.Check{check("ok", "Fine.")}, nil, GradeGood, "Ready to train", "no warnings on 6 rows", "To train, submit the dataset again with dry_run off."},
		"a warning":            {[]results.Check{check("warning", "Odd.")}, nil, GradeWeak, "Ready to train, with 1 warning", "1 warning on 6 rows", "To train, submit the dataset again with dry_run off."},
		"a warning said twice": {[]results.Check{check("warning", "Odd.")}, []results.Warning{{Text: "Odd."}}, GradeWeak, "Ready to train, with 1 warning", "1 warning on 6 rows", "To train, submit the dataset again with dry_run off."},
		"an error":             {[]results.Check{check("error", "Bad."), check("warning", "Odd.")}, nil, GradeBad, "Not ready to train", "1 error and 1 warning on 6 rows", "Fix the errors below, then run the check again."},
		"errors only":          {[]results.Check{check("error", "Bad."), check("error", "Worse.")}, nil, GradeBad, "Not ready to train", "2 errors and 0 warnings on 6 rows", "Fix the errors below, then run the check again."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &results.Result{Kind: results.ResultCheck, Checks: tc.checks, Warnings: tc.warnings, Data: results.Data{Rows: results.Rows{Train: 3, Validation: 2, Test: 1}}}
			part := newVerdictPart(r, nil, nil)
			require.Equal(t, []string{string(tc.grade), tc.word}, []string{string(part.Grade), part.Word})
			require.Equal(t, []string{"Data check without training: " + tc.found + ".", tc.next}, part.Lines)
		})
	}
}

func TestVerdictOfAPredictionOfLittle(t *testing.T) {
	t.Parallel()
	r := &results.Result{Kind: results.ResultPrediction, Prediction: &results.Prediction{Files: []string{"a.csv"}}}
	v := NewVerdict(r)
	require.Equal(t, Verdict{Grade: GradeBad, Word: "Nothing was predicted", Figures: v.Figures, Sentence: "0 rows of 1 file predicted with the model of this dataset"}, v)
	r.Prediction.Rows, r.Prediction.Unsure, r.Prediction.MinConfidence = 1, 1, 0.9
	v = NewVerdict(r)
	require.Equal(t, []string{string(GradeWeak), "Predicted, some with low confidence"}, []string{string(v.Grade), v.Word})
	require.Equal(t, "1 row of 1 file predicted with the model of this dataset; 1 prediction below a confidence of 0.9", v.Sentence)
}

func TestAModelIsComparedWithTheBestEarlierVersion(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		champion results.Champion
		want     string
	}{
		"worse":          {results.Champion{Comparable: true, Test: results.Scores{"accuracy": {Value: 0.9}}}, "Worse than films/2 on the same test rows: accuracy 0.842 against 0.900."},
		"better":         {results.Champion{Comparable: true, Test: results.Scores{"accuracy": {Value: 0.7}}}, "Better than films/2 on the same test rows: accuracy 0.842 against 0.700."},
		"the same":       {results.Champion{Comparable: true, Test: results.Scores{"accuracy": {Value: 0.842}}}, "As good as films/2 on the same test rows: accuracy 0.842 against 0.842."},
		"within chance":  {results.Champion{Comparable: true, Test: results.Scores{"accuracy": {Value: 0.85}}}, "Worse than films/2 on the same test rows: accuracy 0.842 against 0.850, a difference within the 95 % interval."},
		"another metric": {results.Champion{Comparable: true, Test: results.Scores{"mcc": {Value: 0.85}}}, "It could not be compared with films/2: it has no accuracy on these rows."},
		"not comparable": {results.Champion{Why: "It has other\nlabels..."}, "It could not be compared with films/2: It has other labels."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := resultstest.New(t)
			tc.champion.Name, tc.champion.Version = "films", 2
			f.Result.Champion = &tc.champion
			require.Equal(t, tc.want, NewVerdict(&f.Result).Champion)
		})
	}
}

func TestAChangeIsSaidInWords(t *testing.T) {
	t.Parallel()
	require.Equal(t, "0.060 lower", change(results.Named("accuracy"), 0.91, 0.85))
	require.Equal(t, "0.060 higher", change(results.Named("accuracy"), 0.85, 0.91))
	require.Equal(t, "the same", change(results.Named("accuracy"), 0.85, 0.85))
	require.Equal(t, "50.0 % higher", change(results.Named("rmse"), 10, 15))
	require.Equal(t, "25.0 % lower", change(results.Named("rmse"), 4, 3))
	require.Equal(t, "2.000 higher", change(results.Named("rmse"), 0, 2), "nothing is a percentage of zero")
}

func TestASettingIsWrittenAsAPersonWould(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]any{"not set": nil, "yes": true, "no": false, "3": 3.0, "2e-05": 2e-5, "a b": "a\nb", "[a b]": []any{"a", "b"}, "1e+300": 1e300} {
		require.Equal(t, want, settingText(v))
	}
	require.Equal(t, "not set", settingText(" \n"))
}

// TestTheGuidesSayWhatToInstall: each snippet of a kind names its packages and what the folder holds.
func TestTheGuidesSayWhatToInstall(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "trainer", "kinds", "*", "snippets", "*.py"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		kind := filepath.Base(filepath.Dir(filepath.Dir(file)))
		name := kind + "/" + strings.TrimSuffix(filepath.Base(file), ".py")
		s, ok := trainer.NamedSnippet(name)
		require.True(t, ok, name)
		require.NotEmpty(t, s.Needs, name)
		require.NotEmpty(t, s.Holds, name)
		guide := Guide(name, map[string]string{"torch": "2.15.0", "numpy": "2.4"})
		require.Contains(t, guide, "install `"+strings.Join(s.Needs, "`, `")+"`")
		require.Contains(t, guide, "```python\n"+s.Code+"```\n", name)
		require.NotContains(t, guide, "# needs:")
	}
	for _, strange := range []string{"", "text", "../report", "text/../../x", "text/none", "text/text.py"} {
		_, ok := trainer.NamedSnippet(strange)
		require.False(t, ok, strange)
		require.Contains(t, Guide(strange, nil), "ncsa.ray.predict")
	}
	require.Contains(t, GuideOf(&results.Result{Outputs: []results.Output{{Path: "out/model/graph.safetensors", Size: 1 << 30, Apart: true}}}), "`model/graph.safetensors` is too large for this archive (1 GiB)")
}

// svgMarks counts the elements of a chart; its markup must be XML.
func svgMarks(t *testing.T, ch *chart.Chart) (marks map[string]int, words string) {
	t.Helper()
	templates, err := reportTemplates()
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, templates.ExecuteTemplate(&out, "chart", ch))
	marks = map[string]int{}
	dec := xml.NewDecoder(&out)
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return marks, words
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			marks[token.Name.Local]++
		case xml.CharData:
			words += string(token)
		}
	}
}

func TestAChartIsXMLWithTheRightNumberOfMarks(t *testing.T) {
	t.Parallel()
	line := []chart.Point{{X: 1, Y: 2}, {X: 2, Y: 1}}
	for name, tc := range map[string]struct {
		chart                     *chart.Chart
		bars, dots, lines, titles int
	}{
		"a histogram":   {chart.Histogram("Length", &results.Histogram{Edges: []float64{0, 1, 2}, Counts: []int{3, 4}}), 2, 0, 0, 3},
		"a loss":        {chart.Loss(chart.Curves{TrainLoss: line, ValidationLoss: line, Epochs: 2}), 0, 4, 2, 1},
		"predictions":   {chart.Predicted(&results.Regression{Points: [][]float64{{1, 2}, {2, 3}, {3, 4}}}), 0, 3, 1, 1},
		"one point":     {chart.Loss(chart.Curves{TrainLoss: line[:1], Epochs: 1}), 0, 1, 1, 1},
		"a calibration": {chart.Calibration(&results.Calibration{Bins: []results.CalibrationBin{{N: 1, Confidence: 0.5, Accuracy: 0.5}}}), 0, 1, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			marks, words := svgMarks(t, tc.chart)
			require.Equal(t, []int{tc.bars, tc.dots, tc.lines + 1, tc.titles}, []int{marks["rect"], marks["circle"], marks["polyline"], marks["title"]}, "with the axes, which are one line")
			require.Contains(t, words, tc.chart.Summary)
			require.NotContains(t, words, "NaN")
		})
	}
}

func TestNoTextOfAChartBecomesMarkup(t *testing.T) {
	t.Parallel()
	h := results.Histogram{Edges: []float64{0, 1}, Counts: []int{3}, Unit: "rows"}
	want, _ := svgMarks(t, chart.Histogram("Length", &h))
	for _, bad := range resultstest.Hostile() {
		h.Unit = bad
		got, _ := svgMarks(t, chart.Histogram(results.Plain(bad, ""), &h))
		require.Equal(t, want, got)
	}
}
