package delivery

import (
	"cmp"
	"path"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
)

// shortRun is how many characters of a run's name tell runs of one dataset apart.
const shortRun = 8

// Folder is the folder of the run inside the dataset, outermost first: "finetune", "2026-11-21-bert-tiny-ab12cd34"; those of
// predictions, checks and scripts say so: "2026-11-21-predict-reviews-ab12cd34".
func Folder(m manifest.Meta, r *results.Result) []string {
	model := slug(path.Base(r.Model.Base), 40)
	switch {
	case m.RunName != "":
		model = slug(m.RunName, 40)
	case r.Kind == results.ResultPrediction:
		model = slug(path.Base(cmp.Or(r.Prediction.Model.Name, r.Prediction.Model.Base, "model")), 40)
	case r.Kind == results.ResultCheck:
		model = slug(r.Task, 40)
	case r.Kind == results.ResultScript:
		model = slug(strings.TrimSuffix(path.Base(r.Script.Entry), ".py"), 40)
	}
	switch r.Kind {
	case results.ResultPrediction:
		model = "predict-" + model
	case results.ResultCheck:
		model = "check-" + model
	case results.ResultScript:
		model = "script-" + model
	case results.ResultTraining:
	}
	return folder(m.Started, model, m.Run)
}

func folder(at time.Time, name, run string) []string {
	run = slug(strings.TrimPrefix(run, "ft-"), shortRun)
	return []string{"finetune", strings.Join([]string{at.UTC().Format(time.DateOnly), name, run}, "-")}
}

// slug makes a text fit for a folder name on every system: lower-case letters and digits of ASCII with single dashes.
func slug(s string, limit int) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(s) {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			dash = b.Len() > 0
			continue
		}
		if dash {
			b.WriteByte('-')
			dash = false
		}
		if b.Len() >= limit {
			break
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return "run"
	}
	return strings.TrimRight(b.String(), "-")
}
