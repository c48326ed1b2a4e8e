package staging

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ncsa/clowder-ray/internal/job"
	"github.com/ncsa/clowder-ray/internal/pipeline/model"
)

// chooseModel finds the registered model that a prediction is to be made with, by what the user wrote into the form. A model
// file of the dataset wins over a name, and a training needs none; then there is nothing to remember.
func (s *Stager) chooseModel(ctx context.Context, rec job.Record, settings job.Settings) (json.RawMessage, error) {
	if rec.Kind != job.Predict || settings.ModelFile != "" {
		return nil, nil
	}
	of, err := model.Dataset(s.Platform, rec)
	if err != nil {
		return nil, err
	}
	v, err := s.Registry.Find(of, settings.Model, func(dataset string) (bool, error) {
		return s.Platform.MayRead(ctx, rec, dataset)
	})
	if err != nil {
		return nil, err
	}
	s.Statuses.Remark(rec, fmt.Sprintf("Predicting with model %s from run %s", v.Ref(), v.Run))
	return model.Encode(&v)
}
