package runs

import (
	"bytes"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/manifest"
	"github.com/ncsa/clowder-ray/internal/results/report"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// report writes the report of a run from its result and its events, as it is in Clowder but for the pictures of a script. It works as
// long as the run folder stays.
func (s *Section) report(rec job.Record) ([]byte, error) {
	result := s.result(rec)
	if result == nil {
		return nil, web.NotFound
	}
	events, err := results.ReadEvents(s.volume.Run(rec.Run))
	if err != nil {
		return nil, err
	}
	inputs, err := s.volume.ReadInputs(rec)
	if err != nil {
		inputs = nil // the report says what it knows
	}
	m := manifest.Meta{
		Run: rec.Run, JobID: rec.Request.JobID, DatasetID: rec.Request.DatasetID, DatasetName: rec.Request.Name, Extractor: s.forms.Of(rec.Request).Info.Name,
		Version: s.version, RunName: rec.Settings.RunName, Started: rec.Created, Settings: rec.Settings.Values, Inputs: inputs,
	}
	if v, ok := versionOf(rec); ok && v.Run == rec.Run {
		m.Model = manifest.ModelVersion{Name: v.Name, Version: v.Version, Champion: v.Best, BestSoFar: v.Won()}
	}
	if result.Partial && rec.Ending != nil {
		m.Failure = rec.Ending.Text
	}
	var b bytes.Buffer
	if err := report.Write(&b, events, result, m); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
