package deliver

import (
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/model"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
)

// remember adds an automatic prediction to the history of its model. A repeated call changes nothing.
func (d *Deliverer) remember(rec job.Record, v *registry.Version, r *results.Result) error {
	of, err := model.Dataset(d.Platform, rec)
	if err != nil {
		return err
	}
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
	return d.Registry.Remember(of, v.Name, entry)
}
