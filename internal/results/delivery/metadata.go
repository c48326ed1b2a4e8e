package delivery

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/results/report"
	"github.com/ncsa/clowder-ray/internal/text"
)

// fewLabels is how many labels are counted in the metadata of a prediction.
const fewLabels = 20

// Metadata is what is written onto the dataset about the run: few keys whose types never change, because Clowder indexes
// them all in one mapping, and no number that JSON cannot hold.
func Metadata(m manifest.Meta, r *results.Result) map[string]any {
	content := map[string]any{
		"kind":        string(r.Kind),
		"run":         m.Run,
		"job_id":      m.JobID,
		"task":        results.Plain(r.Task, ""),
		"version":     m.Version,
		"folder":      strings.Join(Folder(m, r), "/"),
		"data_sha256": manifest.DataDigest(m.Inputs),
		"verdict":     text.Shorten(report.NewVerdict(r).Sentence, results.MaxSentence),
		"started":     m.Started.UTC().Format(time.RFC3339),
	}
	if m.Page != "" {
		content["studio_url"] = m.Page
	}
	switch r.Kind {
	case results.ResultTraining:
		describeTraining(r, content)
		describeVersion(m.Model, content)
		describeCounts(r.Data.Counts, content)
	case results.ResultPrediction:
		describePrediction(r, content)
	case results.ResultScript:
		describeScript(r, content)
	case results.ResultCheck:
		content["rows_train"], content["rows_validation"], content["rows_test"] = r.Data.Rows.Train, r.Data.Rows.Validation, r.Data.Rows.Test
		content["warnings"], content["errors"] = report.Found(r)
	}
	return content
}

func describeTraining(r *results.Result, content map[string]any) {
	maps.Copy(content, map[string]any{
		"model":            results.Plain(r.Model.Base, ""),
		"from_scratch":     r.Model.FromScratch,
		"parameters":       r.Model.Parameters,
		"metric":           results.Plain(r.Metric, ""),
		"best_epoch":       r.BestEpoch,
		"epochs":           r.Training.Epochs,
		"rows_train":       r.Data.Rows.Train,
		"rows_validation":  r.Data.Rows.Validation,
		"rows_test":        r.Data.Rows.Test,
		"classes":          len(r.Model.Labels),
		"seed":             r.Training.Seed,
		"seconds":          r.Training.Seconds,
		"workers":          r.Training.Workers,
		"device":           results.Plain(r.Training.Device, ""),
		"validation_value": r.Metrics.Validation[r.Metric].Value,
	})
	if s, ok := r.Metrics.Test[r.Metric]; ok {
		low, high := s.Bounds()
		content["test_value"], content["test_low"], content["test_high"] = s.Value, low, high
	}
}

// describeCounts adds what the kind of data counts, under names that are not taken.
func describeCounts(counts results.Counts, content map[string]any) {
	if len(counts) > fewCounts {
		return
	}
	for name, n := range counts {
		if _, taken := content[name]; !taken && countName(name) {
			content[name] = n
		}
	}
}

// fewCounts is how many counts of the data the metadata takes.
const fewCounts = 5

// countName reports whether a name may be a key: a short word.
func countName(name string) bool {
	return name != "" && len(name) <= 20 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == ""
}

// describeVersion tells under what name the model is registered, and which version of it is the best one.
func describeVersion(v manifest.ModelVersion, content map[string]any) {
	if v.Name == "" {
		return
	}
	content["name"], content["name_version"], content["champion"] = v.Name, v.Version, v.Champion
}

func describePrediction(r *results.Result, content map[string]any) {
	p := r.Prediction
	content["model"] = text.Shorten(p.Model.Ref(), results.MaxText)
	content["rows"], content["skipped"] = p.Rows, p.Skipped
	if len(p.Counts) > 0 && len(p.Counts) <= fewLabels {
		counts := make(map[string]int, len(p.Counts))
		for label, n := range p.Counts {
			counts[text.Excerpt(label, 60)] += n
		}
		// As text: labels as keys would each become a field of Clowder's index.
		if doc, err := json.Marshal(counts); err == nil {
			content["counts"] = string(doc)
		}
	}
	if metric, s, ok := r.FirstScore(p.Scores); ok {
		low, high := s.Bounds()
		content["metric"], content["value"], content["low"], content["high"] = metric, s.Value, low, high
	}
}

// MetadataContext names the vocabulary of Metadata, as JSON-LD wants it.
func MetadataContext(extractor string) map[string]any {
	return map[string]any{"@vocab": fmt.Sprintf("urn:clowder:extractor:%s#", slug(extractor, 80))}
}
