package studio

import (
	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/model"
	"github.com/ncsa/clowder-ray/internal/platform/clowder/label"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/studio/labels"
	"github.com/ncsa/clowder-ray/internal/studio/runs"
	"github.com/ncsa/clowder-ray/internal/studio/web"
)

// labels returns the section in which people label files.
func (p *Parts) labels(site *web.Site, rights web.Rights, list *runs.Section) *labels.Section {
	return labels.New(site, labels.Parts{
		Rights: rights, See: list.See, Result: p.result, Inputs: p.Volume.ReadInputs, LabelIn: label.In,
		Keys: func(rec job.Record) []string {
			v, err := model.Of(rec)
			if err != nil || v == nil {
				return nil
			}
			return label.Keys(v.LabelFrom)
		},
	})
}

// result is what a run left, nil where its folder was removed after some time.
func (p *Parts) result(run string) *results.Result {
	found, err := results.ReadFinished(p.Volume.Run(run))
	if err != nil || found.Run != run {
		return nil
	}
	return found
}
