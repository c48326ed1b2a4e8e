package attempt

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/model"
	"github.com/ncsa/clowder-ray/internal/registry"
)

// specModels adds to spec the model to predict with, or the champion to measure a new model against.
func (s *Submitter) specModels(spec *Spec, rec job.Record) error {
	if spec.Kind == job.Script {
		return nil
	}
	if spec.Kind == job.Predict {
		v, err := model.Of(rec)
		if err == nil && v != nil {
			spec.Model, err = s.specModel(rec.Run, *v)
		}
		return err
	}
	of, err := model.Dataset(s.Clowders, rec)
	if err != nil {
		return err
	}
	champion, err := s.Registry.Champion(of, registry.Slug(rec.ModelName()))
	if errors.Is(err, registry.ErrUnreadable) {
		s.Statuses.Remark(rec, fmt.Sprintf("The new model will not be compared with the current champion: %s", err))
		return nil
	}
	if err == nil && champion != nil {
		spec.Champion, err = s.specModel(rec.Run, *champion)
	}
	return err
}

// specModel says where the model of a version lies, as seen from the run folder; Ray may mount the volume elsewhere.
func (s *Submitter) specModel(run string, v registry.Version) (*SpecModel, error) {
	rel, err := filepath.Rel(s.Volume.Run(run).Path(), s.Registry.Model(v).Path())
	if err != nil {
		return nil, fmt.Errorf("find the folder of the model %s: %w", v.Ref(), err)
	}
	return &SpecModel{Path: filepath.ToSlash(rel), Run: v.Run, Name: v.Name, Version: v.Version}, nil
}
