package results

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"
)

// fewLabels is how many labels are counted in the metadata of a prediction.
const fewLabels = 20

// Metadata is what is written onto the dataset about the run: few keys whose types never change, because Clowder indexes
// them all in one mapping, and no number that JSON cannot hold.
func Metadata(m Meta, r *Result) map[string]any {
	content := map[string]any{
		"kind":        string(r.Kind),
		"run":         m.Run,
		"job_id":      m.JobID,
		"task":        plain(r.Task, ""),
		"version":     m.Version,
		"folder":      strings.Join(Folder(m, r), "/"),
		"data_sha256": dataDigest(m.Inputs),
		"verdict":     shorten(NewVerdict(r).Sentence, maxSentence),
		"started":     m.Started.UTC().Format(time.RFC3339),
	}
	switch r.Kind {
	case ResultTraining:
		r.describeTraining(content)
		m.Model.describe(content)
	case ResultPrediction:
		r.Prediction.describe(content, r.Task)
	case ResultCheck:
		content["rows_train"], content["rows_validation"], content["rows_test"] = r.Data.Rows.Train, r.Data.Rows.Validation, r.Data.Rows.Test
		content["warnings"], content["errors"] = r.found()
	}
	return content
}

func (r *Result) describeTraining(content map[string]any) {
	maps.Copy(content, map[string]any{
		"model":            plain(r.Model.Base, ""),
		"from_scratch":     r.Model.FromScratch,
		"parameters":       r.Model.Parameters,
		"metric":           plain(r.Metric, ""),
		"best_epoch":       r.BestEpoch,
		"epochs":           r.Training.Epochs,
		"rows_train":       r.Data.Rows.Train,
		"rows_validation":  r.Data.Rows.Validation,
		"rows_test":        r.Data.Rows.Test,
		"classes":          len(r.Model.Labels),
		"seed":             r.Training.Seed,
		"seconds":          r.Training.Seconds,
		"workers":          r.Training.Workers,
		"device":           plain(r.Training.Device, ""),
		"validation_value": r.Metrics.Validation[r.Metric].Value,
	})
	if s, ok := r.Metrics.Test[r.Metric]; ok {
		low, high := s.bounds()
		content["test_value"], content["test_low"], content["test_high"] = s.Value, low, high
	}
}

// describe tells under what name the model is registered, and which version of it is the best one.
func (v ModelVersion) describe(content map[string]any) {
	if v.Name == "" {
		return
	}
	content["name"], content["name_version"], content["champion"] = v.Name, v.Version, v.Champion
}

func (p *Prediction) describe(content map[string]any, task string) {
	content["model"] = shorten(p.Model.ref(), maxText)
	content["rows"], content["skipped"] = p.Rows, p.Skipped
	if len(p.Counts) > 0 && len(p.Counts) <= fewLabels {
		counts := make(map[string]int, len(p.Counts))
		for label, n := range p.Counts {
			counts[shorten(oneLine(label), 60)] += n
		}
		// As text: labels as keys would each become a field of Clowder's index.
		if doc, err := json.Marshal(counts); err == nil {
			content["counts"] = string(doc)
		}
	}
	if metric, s, ok := firstScore(p.Scores, task); ok {
		low, high := s.bounds()
		content["metric"], content["value"], content["low"], content["high"] = metric, s.Value, low, high
	}
}

// MetadataContext names the vocabulary of Metadata, as JSON-LD wants it.
func MetadataContext(extractor string) map[string]any {
	return map[string]any{"@vocab": fmt.Sprintf("urn:clowder:extractor:%s#", slug(extractor, 80))}
}
