package pipeline

import (
	"context"
	"fmt"
	"strings"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/job/crash"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/text"
)

// chooseExport finds the model that is to be put into the dataset: one of its own, or one of a dataset that the user may read.
func (p *Pipeline) chooseExport(ctx context.Context, rec job.Record, settings job.Settings) (change, error) {
	if err := p.checkMayRead(ctx, rec); err != nil {
		return nil, badInput(err)
	}
	of, err := p.dataset(rec)
	if err != nil {
		return nil, badInput(err)
	}
	v, err := p.registry.Find(of, settings.Run, func(dataset string) (bool, error) {
		return p.platform.MayRead(ctx, rec, dataset)
	})
	if err != nil {
		return nil, badInput(err)
	}
	p.remark(rec, fmt.Sprintf("Exporting model %s from run %s", v.Ref(), v.Run))
	return chosen(v, settings, job.Collected)
}

// export puts the chosen model as model.zip into the dataset.
func (p *Pipeline) export(ctx context.Context, rec job.Record) (change, error) {
	v, err := modelOf(rec)
	if err != nil {
		return nil, err
	}
	m, err := StoredModel(p.registry, *v)
	if err != nil {
		return nil, err
	}
	artifacts, err := m.Build(ctx, p.cfg.Volume.Deliverables(rec.Run))
	if err != nil {
		return nil, err
	}
	crash.At(crash.Built)
	d := platform.Delivery{Folders: m.Folder(rec.Run, rec.Created), Artifacts: artifacts, Content: p.aboutModel(rec, v, "export")}
	d.Content["folder"] = strings.Join(d.Folders, "/")
	return p.deliver(ctx, rec, d, false, done(func(where string) string {
		return fmt.Sprintf("The model %s (%s) is now in this dataset. %s", v.Ref(), text.Bytes(artifacts[0].Size), where)
	}))
}
