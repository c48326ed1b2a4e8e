package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/platform"
	"github.com/ncsa/clowder-ray/internal/registry"
	"github.com/ncsa/clowder-ray/internal/results"
	"github.com/ncsa/clowder-ray/internal/results/delivery"
)

// chooseModel finds the registered model that a prediction is to be made with, by what the user wrote into the form. A model
// file of the dataset wins over a name, and a training needs none; then there is nothing to remember.
func (p *Pipeline) chooseModel(ctx context.Context, rec job.Record, e platform.Extractor, settings job.Settings) (json.RawMessage, error) {
	if e.Kind != job.Predict || settings.ModelFile != "" {
		return nil, nil
	}
	of, err := p.dataset(rec)
	if err != nil {
		return nil, err
	}
	v, err := p.registry.Find(of, settings.Model, func(dataset string) (bool, error) {
		return p.platform.MayRead(ctx, rec, dataset)
	})
	if err != nil {
		return nil, err
	}
	p.remark(rec, fmt.Sprintf("Predicting with model %s from run %s", v.Ref(), v.Run))
	return encodeModel(&v)
}

// specModels adds to spec the model to predict with, or the champion to measure a new model against.
func (p *Pipeline) specModels(spec *Spec, rec job.Record) error {
	if spec.Kind == job.Script {
		return nil
	}
	if spec.Kind == job.Predict {
		v, err := modelOf(rec)
		if err == nil && v != nil {
			spec.Model, err = p.specModel(rec.Run, *v)
		}
		return err
	}
	of, err := p.dataset(rec)
	if err != nil {
		return err
	}
	champion, err := p.registry.Champion(of, registry.Slug(expectedName(rec)))
	if errors.Is(err, registry.ErrUnreadable) {
		p.remark(rec, fmt.Sprintf("The new model will not be compared with the current champion: %s", err))
		return nil
	}
	if err == nil && champion != nil {
		spec.Champion, err = p.specModel(rec.Run, *champion)
	}
	return err
}

// specModel says where the model of a version lies, as seen from the run folder; Ray may mount the volume elsewhere.
func (p *Pipeline) specModel(run string, v registry.Version) (*SpecModel, error) {
	rel, err := filepath.Rel(p.cfg.Volume.Run(run).Path(), p.registry.Model(v).Path())
	if err != nil {
		return nil, fmt.Errorf("find the folder of the model %s: %w", v.Ref(), err)
	}
	return &SpecModel{Path: filepath.ToSlash(rel), Run: v.Run, Name: v.Name, Version: v.Version}, nil
}

// modelOf is the version that a record names, nil for none.
func modelOf(rec job.Record) (*registry.Version, error) {
	if len(rec.Model) == 0 {
		return nil, nil //nolint:nilnil // most records name no model
	}
	var v registry.Version
	if err := json.Unmarshal(rec.Model, &v); err != nil {
		return nil, fmt.Errorf("decode the model of the job: %w", err)
	}
	return &v, nil
}

// encodeModel writes a version for the record; nil for none.
func encodeModel(v *registry.Version) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	doc, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode the model of the job: %w", err)
	}
	return doc, nil
}

// StoredModel is the model of a version as it can be packed for users.
func StoredModel(models *registry.Registry, v registry.Version) (delivery.StoredModel, error) {
	facts, err := json.Marshal(v)
	if err != nil {
		return delivery.StoredModel{}, fmt.Errorf("encode the description of the model %s: %w", v.Ref(), err)
	}
	m := delivery.StoredModel{
		Dir: models.Model(v), Ref: v.Ref(), Run: v.Run, Made: v.Created, Kind: v.Kind, Base: v.Base, Task: v.Task, Facts: facts,
	}
	for _, f := range v.Files {
		m.Files = append(m.Files, results.Output(f))
	}
	return m, nil
}

// expectedName is the name under which the model of a training will be registered, as far as the form says. A settings file may say
// otherwise; then there is no champion to compare with.
func expectedName(rec job.Record) string { return cmp.Or(rec.Settings.RegisterAs, rec.Request.Name) }
