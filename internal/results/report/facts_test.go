package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
)

// valueOf is the fact of that name, empty for none.
func valueOf(facts []pair, name string) string {
	for _, f := range facts {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

func TestTheBaseOfAModelIsSaidWithItsCommit(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*results.Result)
		want   string
	}{
		"an installed model":      {func(r *results.Result) { r.Model.Base = "org/bert" }, "fine-tuned from org/bert"},
		"of a known commit":       {func(r *results.Result) { r.Model.BaseCommit = strings.Repeat("0123456789", 4) }, "fine-tuned from org/bert at commit 012345678901"},
		"of a short commit":       {func(r *results.Result) { r.Model.BaseCommit = "abc" }, "fine-tuned from org/bert at commit abc"},
		"from random weights":     {func(r *results.Result) { r.Model.FromScratch = true }, "org/bert, trained from random weights"},
		"averaged with words":     {func(r *results.Result) { r.Model.AveragedWith = "words" }, "fine-tuned from org/bert, averaged with words"},
		"a model of scikit-learn": {func(r *results.Result) { r.Candidates = []results.Candidate{candidate("words", 1, true)} }, "org/bert, fitted to this data alone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := goldenTraining(t)
			r.Model = results.Model{Kind: "text", Base: "org/bert"}
			r.Candidates = nil
			tc.change(r)
			require.Equal(t, tc.want, valueOf(newModelPart(r, manifest.Meta{}).Facts, "Base"))
		})
	}
}

func TestTheLicenseOfAModelIsNotGuessed(t *testing.T) {
	t.Parallel()
	for want, m := range map[string]results.Model{
		"only the terms of the data apply":                                                                                   {FromScratch: true, License: "mit"},
		"mit (from the card of the base model); the terms of the data also apply":                                            {License: "mit"},
		"not named in the files of the base model: look it up before you share this model; the terms of the data also apply": {},
	} {
		require.Equal(t, want, license(&results.Result{Model: m}))
	}
}

func TestAModelIsNamedAsAPredictionAsksForIt(t *testing.T) {
	t.Parallel()
	registered := manifest.Meta{Run: "ft-1"}
	registered.Model.Name, registered.Model.Version, registered.Model.Champion = "reviews", 3, "reviews/2"
	champion := registered
	champion.Model.BestSoFar = true
	for name, tc := range map[string]struct {
		meta    manifest.Meta
		names   []string
		version string
	}{
		"not registered":        {manifest.Meta{Run: "ft-1"}, []string{"ft-1"}, ""},
		"a version":             {registered, []string{"reviews/3"}, "reviews/3. The current champion is reviews/2."},
		"the best version":      {champion, []string{"reviews/3", "reviews@champion"}, "reviews/3. It is the current champion."},
		"a run without a name":  {manifest.Meta{}, []string{"ft-golden"}, ""},
		"a name of blanks only": {func() (m manifest.Meta) { m.Run, m.Model.Name = "ft-2", " \n"; return m }(), []string{"ft-2"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := goldenTraining(t)
			r.Run = "ft-golden"
			part := newModelPart(r, tc.meta)
			require.Equal(t, tc.names, part.Names)
			require.Equal(t, tc.version, valueOf(part.Facts, "Version"))
		})
	}
}

func TestTheSizeOfAModelCountsItsFolderOnly(t *testing.T) {
	t.Parallel()
	r := &results.Result{Outputs: []results.Output{
		{Path: "out/model/a.safetensors", Size: 100}, {Path: "out/model/deep/b.json", Size: 11}, {Path: "out/models.csv", Size: 1000}, {Path: "out/baseline/config.json", Size: 7},
	}}
	require.Equal(t, int64(111), modelBytes(r))
	require.True(t, newModelPart(r, manifest.Meta{}).Baseline)
	r.Outputs = r.Outputs[:3]
	require.False(t, newModelPart(r, manifest.Meta{}).Baseline)
}

func TestTheListsOfAReportAreBounded(t *testing.T) {
	t.Parallel()
	r, m := &results.Result{}, manifest.Meta{}
	for i := range maxSettings + 20 {
		r.Settings = append(r.Settings, results.Setting{Name: fmt.Sprint("s", i), Value: 1.0, Source: results.SourceChosen})
		m.Inputs = append(m.Inputs, job.Input{Name: fmt.Sprintf("f%03d.csv", i), Path: fmt.Sprintf("f%03d.csv", i), Size: 1234, SHA256: strings.Repeat("c", 64)})
	}
	rows := settingRows(r)
	require.Len(t, rows, maxSettings)
	require.Equal(t, settingRow{"s0", "1", "chosen automatically"}, rows[0])
	files := fileFacts(m)
	require.Len(t, files, maxRows)
	require.Equal(t, pair{"f000.csv", "1,234 bytes, sha256 " + strings.Repeat("c", 18) + "…"}, files[0])
}

func TestHowToRepeatARun(t *testing.T) {
	t.Parallel()
	r := goldenTraining(t)
	r.Data.SplitSHA256 = strings.Repeat("d", 64)
	part := newRepeatPart(r, manifest.Meta{})
	require.Equal(t, "the model", part.Same)
	require.Contains(t, part.Command, "extractor run --from manifest.json")
	require.Contains(t, part.File, "seed: ")
	require.Equal(t, "sha256 "+strings.Repeat("d", 18)+"…", valueOf(part.Facts, "Row split"))
	require.NotEmpty(t, valueOf(part.Facts, "Manifest"))

	part = newRepeatPart(scriptResult(t, "result-script.json"), manifest.Meta{})
	require.Equal(t, "the files", part.Same)
	require.Empty(t, part.File, "a script has no settings of a training")
	require.Empty(t, valueOf(part.Facts, "Seed"))
	part = newRepeatPart(&results.Result{Kind: results.ResultCheck}, manifest.Meta{})
	require.Empty(t, part.Command, "a check is repeated by its extractor")
}

// searched is a search of three trials, of which the second is the best.
func searched() *results.Search {
	return &results.Search{
		Metric: "accuracy", Chosen: 1, Best: new(1), Why: "Trial 1 has the smallest loss.", Seconds: 90, Trainings: 2.5,
		Trials: []results.Trial{
			{Number: 0, Default: true, State: results.TrialKept, Rungs: 1, Epochs: 3, Loss: new(0.5), Value: new(0.8)},
			{Number: 1, Settings: map[string]any{"learning_rate": 0.01, "batch_size": 8.0}, State: results.TrialKept, Rungs: 3, Epochs: 3, Loss: new(0.4), Value: new(0.9)},
			{Number: 2, Model: "org/other", State: results.TrialDropped, Rungs: 1, Epochs: 0.75, Loss: new(0.9), Value: new(0.6)},
			{Number: 3, State: results.TrialDiverged, Rungs: 1},
			{Number: 4, State: results.TrialWaiting},
		},
		DefaultTest: results.Scores{"accuracy": {Value: 0.75, Low: new(0.7), High: new(0.8), N: 100}},
		BestTest:    results.Scores{"accuracy": {Value: 0.85, Low: new(0.8), High: new(0.9), N: 100}, "loss": {Value: 0.3, Low: new(0.2), High: new(0.4), N: 100}},
	}
}

func TestTrialsAreShownByHowFarTheyCame(t *testing.T) {
	t.Parallel()
	s := searched()
	part := newSearchPart(&results.Result{Search: s})
	require.Equal(t, []string{"Trial", "Settings", "Validation loss", "Validation accuracy", "Epochs", "Result"}, part.Table.Heads)
	require.Equal(t, [][]string{
		{"0", "default settings", "0.500", "0.800", "3", "trained to the end"},
		{"1", "batch_size 8, learning_rate 0.01", "0.400", "0.900", "3", "trained to the end"},
		{"2", "org/other", "0.900", "0.600", "0.75", "dropped"},
		{"3", "default settings", "–", "–", "0", "diverged"},
	}, part.Table.Rows, "a trial that was not begun is left out")
	require.Equal(t, 1, part.Delivered)
	require.Equal(t, "Trial 1 has the smallest loss.", part.Sentence)
	require.Len(t, s.Trials, 5, "the result stays as it was")

	s.DefaultModel = "Words"
	require.Equal(t, -1, newSearchPart(&results.Result{Search: s}).Delivered, "the delivered model is none of the trials")
	s.Metric = "loss"
	part = newSearchPart(&results.Result{Search: s})
	require.Equal(t, []string{"Trial", "Settings", "Validation loss", "Epochs", "Result"}, part.Table.Heads)
	require.Len(t, part.Table.Rows[0], len(part.Table.Heads))
	require.Nil(t, newSearchPart(&results.Result{}))
}

func TestWhatASearchCostAndWon(t *testing.T) {
	t.Parallel()
	s := searched()
	r := &results.Result{Search: s}
	s.TestComparison = &results.Comparison{Difference: 0.0123456, Error: new(0.004), Rows: 1200}
	s.Ended = "The time was over."
	require.Equal(t, []pair{
		{"Test rows, default settings", "accuracy 0.750 (0.700–0.800)"},
		{"Test rows, trial 1", "accuracy 0.850 (0.800–0.900), loss 0.300 (0.200–0.400)"},
		{"Difference in test loss", "0.0123 ± 0.004 on 1,200 rows (positive: the trial is better)"},
		{"Cost", "1 min 30 s: as much as 2.5 trainings with the default settings"},
		{"Ended early", "The time was over."},
	}, searchFacts(r, "accuracy"))

	s.TestComparison.Error, s.Best, s.Trainings, s.Ended, s.DefaultModel, s.DefaultTest["accuracy"] = nil, nil, 0, "", "Words", results.Score{Value: 0.75, N: 1}
	require.Empty(t, searchFacts(r, "accuracy"), "a score without an interval is too little for a fact")
	require.Equal(t, "accuracy 0.850 (0.800–0.900)", valueOf(testFact(r, "x", results.Scores{"accuracy": s.BestTest["accuracy"]}, "accuracy"), "x"))
	require.Len(t, testFact(r, "x", s.BestTest, "loss"), 1, "the loss is named once")
}

func TestCandidatesAreOrderedByWhatChoseTheModel(t *testing.T) {
	t.Parallel()
	order := func(metric string, values ...map[string]float64) string {
		r := goldenTraining(t)
		r.ChosenBy, r.Metric, r.Candidates = metric, metric, nil
		for i, v := range values {
			r.Candidates = append(r.Candidates, results.Candidate{Name: string(rune('a' + i)), Validation: v, Chosen: i == 0})
		}
		var names []string
		for _, row := range newCandidatesPart(r).Table.Rows {
			names = append(names, row[0])
		}
		return strings.Join(names, "")
	}
	mrr := func(v float64) map[string]float64 { return map[string]float64{"mrr": v} }
	loss := func(v float64) map[string]float64 { return map[string]float64{"loss": v} }
	require.Equal(t, "bca", order("mrr", mrr(0.1), mrr(0.9), mrr(0.5)), "a share is better where it is higher")
	require.Equal(t, "acb", order("loss", loss(0.1), loss(0.9), loss(0.5)))
	require.Equal(t, "bac", order("mrr", mrr(0.1), mrr(0.9), loss(0.5)), "one without the metric comes last")
	require.Equal(t, "abc", order("mrr", mrr(0.5), mrr(0.5), mrr(0.5)), "equal ones stay in their order")
}

func TestWordsThatThePagesOfTheStudioShare(t *testing.T) {
	t.Parallel()
	r := goldenTraining(t)
	metric, score, where := Headline(r)
	require.Equal(t, r.Metrics.Test[metric], score)
	require.Equal(t, "held-out", where)
	r.Metrics.Test = nil
	metric, score, where = Headline(r)
	require.Equal(t, "validation", where)
	require.Equal(t, r.Metrics.Validation[metric], score)
	require.Equal(t, "yes", SettingText(true))

	r.Warnings = []results.Warning{{Code: "x", Text: "A first."}, {Code: "y", Text: "A first."}}
	require.Contains(t, strings.Join(Notes(r, results.Progress{}), "\n"), "A first.")

	drawn, err := Picture(chart.Steps("<loss>", chart.StepLine{Name: "a", Role: chart.RoleTrain, Points: []chart.Point{{X: 0, Y: 1}, {X: 1, Y: 0}}}))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(strings.TrimSpace(string(drawn)), "<"), drawn)
	require.Contains(t, string(drawn), "<svg")
	require.NotContains(t, string(drawn), "<loss>")
}

func TestFilesThatWereNotReadAreNamedWithTheReason(t *testing.T) {
	t.Parallel()
	r := goldenTraining(t)
	for i := range maxRows + 2 {
		r.Data.NotRead = append(r.Data.NotRead, job.NotRead{Name: fmt.Sprintf("%d.h5", i), Reason: "an HDF5 file"})
	}
	facts := dataFacts(r, results.Progress{})
	require.Equal(t, "0.h5: an HDF5 file", valueOf(facts, "Not read"))
	require.Contains(t, facts, pair{"Not read", "2 more files, see manifest.json"})
}
