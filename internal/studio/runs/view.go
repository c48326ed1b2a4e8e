package runs

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"slices"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/report"
	"github.com/ncsa/clowder-ray/internal/results/report/chart"
	"github.com/ncsa/clowder-ray/internal/text"
)

// View is everything that the page of one run shows.
type View struct {
	Row
	// Summary is the verdict of the report in a sentence, Help what would make the model better.
	Summary string `json:"summary,omitempty"`
	Help    string `json:"help,omitempty"`
	// Phases say how long each phase took.
	Phases   []Phase   `json:"phases,omitempty"`
	Notes    []string  `json:"notes"`
	Settings []Setting `json:"settings"`
	// SettingsFile is the file of the dataset that options came from, in the version that the run used; nil for none.
	SettingsFile *job.SettingsFile `json:"settings_file,omitempty"`
	Inputs       []Input           `json:"inputs"`
	Files        []File            `json:"files"`
	// Problem says why a part of the run cannot be shown, empty where nothing is missing.
	Problem string `json:"problem,omitempty"`
	// Actions are what may be done with the run in its state, apart from the rights of the visitor.
	Actions []string `json:"actions" doc:"What may be done with the run now: stop, cancel, retry, again"`
	// RetryRefused says why a failed run cannot be retried, empty where it can or where it has not failed.
	RetryRefused string `json:"retry_refused,omitempty"`
	// Keeps is what the run keeps if it is stopped now, empty where it cannot be stopped.
	Keeps string `json:"-"`
	// Pictures are the curves, for the page.
	Pictures []template.HTML `json:"-"`
	// Epochs has the figures of the evaluations, for those who do not see the curves.
	Epochs Table `json:"-"`
	// Against is the champion that the curves are measured against; nil where none is known.
	Against *Against `json:"against,omitempty" doc:"The champion that the curves are measured against"`
	// ToLabel is how many files the studio offers to label.
	ToLabel int `json:"to_label,omitempty" doc:"How many files have no label that would teach the model most: GET /runs/{run}/next-labels"`
	// Report says that a report can be written from what is there.
	Report bool `json:"report"`
}

// Table is a table of texts.
type Table struct {
	Heads []string
	Rows  [][]string
}

// Against is the champion of a model as its own run measured it on the validation rows.
type Against struct {
	Ref    string  `json:"ref"`
	Metric string  `json:"metric"`
	Value  float64 `json:"value" doc:"The metric on the validation rows of its run"`
	// described is the metric.
	described results.Metric
}

// Chart is the title of the chart that shows the metric, as the live curves call it.
func (a Against) Chart() string {
	return "Validation " + a.described.Words()
}

// The actions on a run.
const (
	ActionCancel = "cancel"
	ActionStop   = "stop"
	ActionRetry  = "retry"
	ActionAgain  = "again"
)

// view reads everything about a run.
func (s *Section) view(rec job.Record) View {
	v := s.read(rec)
	v.Settings = withFileNames(v.Settings, s.forms.Of(rec.Request), v.Inputs)
	return v
}

// read reads everything about a run, with the ids of files where the form had them.
func (s *Section) read(rec job.Record) View {
	v := View{Row: s.row(rec), Notes: []string{}, Settings: []Setting{}, Inputs: []Input{}, Files: []File{}}
	e := s.forms.Of(rec.Request)
	v.Actions, v.Keeps, v.RetryRefused = actions(rec, e)
	v.Inputs, v.SettingsFile, v.Against = s.inputs(rec), rec.SettingsFile, s.against(rec, e)
	dir := s.volume.Run(rec.Run)
	root, err := dir.Open()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		v.Settings = settingsOfForm(rec, e)
		if v.FolderGone {
			v.Problem = folderGone(v.Model)
		}
		return v
	case err != nil:
		v.Settings, v.Problem = settingsOfForm(rec, e), "The files of this run cannot be read now: try again later, or ask the administrator."
		return v
	}
	defer func() { _ = root.Close() }()

	result := s.result(rec)
	events, err := results.ReadEvents(dir)
	if err != nil {
		v.Problem = "The events of this run cannot be read now: try again later, or ask the administrator."
	}
	var progress results.Progress
	for _, e := range events {
		if e.Attempt <= rec.Attempt {
			progress.Fold(e)
		}
	}
	v.Phases = phases(events, rec)
	v.Files = files(root, result)
	if result == nil {
		v.Settings = withChoices(settingsOfForm(rec, e), progress.Decisions)
		v.Notes = notesOf(&progress)
		v.draw(events, &results.Result{Attempt: rec.Attempt, Metric: metricSoFar(&progress)})
		return v
	}
	v.Report = true
	if result.Prediction != nil {
		v.ToLabel = len(result.Prediction.NextLabels)
	}
	verdict := report.NewVerdict(result)
	v.Summary, v.Help = verdict.Sentence, verdict.Help
	v.Settings = settingsOf(result)
	v.Notes = append(v.Notes, report.Notes(result, progress)...)
	v.draw(events, result)
	return v
}

// result is the result of a run, or what a script left that failed; nil where there is none or it cannot be read.
func (s *Section) result(rec job.Record) *results.Result {
	dir := s.volume.Run(rec.Run)
	result, err := results.ReadFinished(dir)
	if err != nil {
		result, err = results.ReadLeft(dir)
	}
	if err != nil || result.Run != rec.Run {
		return nil
	}
	return result
}

// against is the champion of the model that a training makes, unless that is the training's own. It is known as long as the run folder of the
// champion is kept.
func (s *Section) against(rec job.Record, e Form) *Against {
	if e.Kind != KindTrain {
		return nil
	}
	name := registry.Slug(rec.ModelName())
	if m := modelOf(rec); m != nil && m.Made {
		name = m.Name
	}
	number, run := s.champions.champion(s.now(), rec.Request.DatasetID, name)
	if number == 0 || run == rec.Run {
		return nil
	}
	made := s.result(job.Record{Run: run})
	if made == nil {
		return nil
	}
	score, ok := made.Metrics.Validation[made.Metric]
	if !ok {
		return nil
	}
	return &Against{Ref: fmt.Sprintf("%s/%d", name, number), Metric: made.Metric, Value: score.Value, described: made.Named(made.Metric)}
}

func folderGone(m *Model) string {
	if m != nil && m.Made {
		return "The files of this run were removed after some time. The model is still here: " + m.Ref + "."
	}
	return "The files of this run were removed after some time. What it delivered is still in the dataset in Clowder."
}

func metricSoFar(p *results.Progress) string {
	name, _, _ := p.Metric()
	return name
}

func notesOf(p *results.Progress) []string {
	out := []string{}
	for _, w := range p.Warnings {
		out = append(out, results.Plain(w.Text, w.Code))
	}
	return out
}

// actions are what may be done with a run in its state.
func actions(rec job.Record, e Form) (may []string, keeps, retryRefused string) {
	may = []string{}
	if probe := rec; e.Keeps != "" && probe.Stop("") == nil && rec.StoppedBy == "" {
		may, keeps = append(may, ActionStop), e.Keeps
	}
	if probe := rec; probe.Cancel("") == nil && rec.CancelledBy == "" {
		may = append(may, ActionCancel)
	}
	if rec.State == job.Failed || rec.State == job.Cancelled {
		if err := retryable(rec); err == nil {
			may = append(may, ActionRetry)
		} else {
			retryRefused = text.Capital(err.Error()) + "."
		}
	}
	if !rec.Trimmed {
		may = append(may, ActionAgain)
	}
	return may, keeps, retryRefused
}

// draw draws the curves of a run. What cannot be drawn is left out.
func (v *View) draw(events []results.Event, r *results.Result) {
	charts := curves(events, r)
	for _, c := range charts {
		if picture, err := report.Picture(c); err == nil {
			v.Pictures = append(v.Pictures, picture)
		}
	}
	v.Epochs = evaluations(events, r)
}

// curves are the charts of a run: the loss and the metric of a training, or the first curves of a script.
func curves(events []results.Event, r *results.Result) []*chart.Chart {
	if r.Script != nil {
		return scriptCurves(r.Script)
	}
	c := chart.NewCurves(events, r)
	return slices.DeleteFunc([]*chart.Chart{chart.Loss(c), chart.Metric(c)}, func(c *chart.Chart) bool { return c == nil })
}

// shownCurves is how many curves of a script the page of a run shows; the report has them all.
const shownCurves = 4

func scriptCurves(s *results.Script) []*chart.Chart {
	var out []*chart.Chart
	for _, name := range slices.Sorted(maps.Keys(s.Series)) {
		if c := chart.Steps(results.Plain(name, "value"), chart.StepLine{Name: results.Plain(name, "value"), Points: chart.Pairs(s.Series[name])}); c != nil && len(out) < shownCurves {
			out = append(out, c)
		}
	}
	return out
}

// evaluations are the figures of the evaluations on the validation rows.
func evaluations(events []results.Event, r *results.Result) Table {
	var rows []results.Event
	names := map[string]bool{}
	for _, e := range events {
		if e.Kind == results.KindEval && e.Split == results.SplitValidation && e.Attempt <= r.Attempt {
			rows = append(rows, e)
			for name := range e.Metrics {
				names[name] = true
			}
		}
	}
	if len(rows) == 0 {
		return Table{}
	}
	order := slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a, r.Metric), rank(b, r.Metric)), cmp.Compare(a, b))
	})
	t := Table{Heads: []string{"Epoch"}}
	for _, name := range order {
		t.Heads = append(t.Heads, "Validation "+r.Named(name).Words())
	}
	for _, e := range rows {
		row := []string{text.Decimal(e.Epoch, 2)}
		for _, name := range order {
			words := "–"
			if v, ok := e.Metrics[name]; ok {
				words = r.Named(name).Figure(v)
			}
			row = append(row, words)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func rank(metric, first string) int {
	switch metric {
	case first:
		return 0
	case "loss":
		return 1
	default:
		return 2
	}
}
