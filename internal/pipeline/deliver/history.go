package deliver

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/model"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/byid"
	"github.com/ncsa/clowder-ray/internal/text"
)

// predicted remembers an automatic prediction, and compares the labels that a prediction has read with earlier answers of its model. A repeated call
// changes nothing.
func (d *Deliverer) predicted(rec job.Record, v *registry.Version, r *results.Result) error {
	of, err := model.Dataset(d.Platform, rec)
	if err != nil {
		return err
	}
	ids := d.byID(rec, r)
	if len(rec.Request.Announced) > 0 && r.Prediction.Rows > 0 {
		if err := d.remember(of, rec, v, r, ids); err != nil {
			return err
		}
	}
	if cmp.Or(v.DatasetID, registry.Local) != of.ID || v.Clowder != "" && v.Clowder != of.Clowder {
		return nil // the history is that of a dataset which this user may not be able to edit
	}
	return d.compare(of, rec, v, r, ids)
}

// byID is what the run left by the ids of rows. Predictions and trainings are delivered without it where it cannot be used.
func (d *Deliverer) byID(rec job.Record, r *results.Result) byid.Document {
	ids, err := byid.Read(d.Volume.Run(rec.Run), rec.Run, r.Attempt)
	if err != nil {
		d.Statuses.Remark(rec, fmt.Sprintf("The labels of this run are not compared with earlier predictions: %s", err))
	}
	if ids == nil {
		return byid.Document{}
	}
	return *ids
}

// compare takes the labels that a run has read for earlier answers of the model v, and tells what they show.
func (d *Deliverer) compare(of registry.Dataset, rec job.Record, v *registry.Version, r *results.Result, ids byid.Document) error {
	if len(ids.Labels) == 0 && ids.Contradicting == 0 {
		return nil
	}
	matched, err := d.Registry.Compare(of, v.Name, rec.Run, ids.Labels, v.Metric)
	if errors.Is(err, registry.ErrUnreadable) {
		d.Statuses.Remark(rec, fmt.Sprintf("The labels of this run are not compared with earlier predictions: %s", err))
		return nil
	}
	if err != nil || matched.Kept == 0 {
		return err
	}
	d.Statuses.Remark(rec, sayMatched(matched, ids, r, v))
	return nil
}

// sayMatched says how labels fit to rows that were predicted before.
func sayMatched(m registry.Matched, ids byid.Document, r *results.Result, v *registry.Version) string {
	labels := text.Count(len(ids.Labels), "label")
	more := ""
	if ids.Contradicting > 0 {
		more = fmt.Sprintf(" %s with different labels in several rows: not compared.", text.Count(ids.Contradicting, "id"))
	}
	if m.Newest == nil || m.Newest.Later == nil {
		return fmt.Sprintf("None of %s with an id is of a row that %s predicted before.%s", labels, v.Name, more)
	}
	later := m.Newest.Later
	said := fmt.Sprintf("%s of %s are of rows that %s predicted before. Of its prediction of %s, %s: %s %s.", text.Number(m.Labels), labels, v.Name,
		m.Newest.At.UTC().Format(time.DateOnly), matchedRows(later), r.Named(later.Metric).Words(), text.Decimal(later.Score.Value, 3))
	if later.Repeated > 0 {
		said += fmt.Sprintf(" %s stood in several of its rows: not compared.", text.Count(later.Repeated, "id"))
	}
	return said + more
}

func matchedRows(l *registry.Later) string {
	return fmt.Sprintf("%s of %s have a label now", text.Number(l.Score.N), text.Count(l.Of, "row"))
}

// remember adds an automatic prediction to the history of its model, with its answers.
func (d *Deliverer) remember(of registry.Dataset, rec job.Record, v *registry.Version, r *results.Result, ids byid.Document) error {
	p := r.Prediction
	entry := registry.Prediction{
		Run: rec.Run, At: rec.Created, Version: v.Version, Files: len(p.Files), Rows: p.Rows, Mean: p.Mean, Confidence: p.MeanConfidence, Unlike: p.Unlike,
	}
	if len(p.Files) > 0 {
		entry.File = results.Plain(p.Files[0], "file")
	}
	if len(p.Counts) > 0 {
		counts := make(map[string]int, len(p.Counts))
		for label, n := range p.Counts {
			counts[results.Plain(label, "")] += n
		}
		entry.Counts = registry.MostFrequent(counts)
	}
	if s, ok := p.Scores[v.Metric]; ok {
		entry.Score = &registry.Score{Value: s.Value, Low: s.Low, High: s.High, N: s.N}
	}
	kept := registry.Answers{
		Numbers: ids.Form == byid.FormNumber, Unlabelled: ids.Rows, Repeated: ids.Repeated, Rows: make(map[string]registry.Answer, len(ids.Answers)),
	}
	for id, said := range ids.Answers {
		kept.Rows[id] = registry.Answer{Predicted: said}
	}
	for _, id := range ids.Listed {
		kept.Rows[id] = registry.Answer{Predicted: ids.Answers[id], Proposed: true}
	}
	return d.Registry.Remember(of, v.Name, entry, kept)
}
